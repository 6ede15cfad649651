"""`hush list places`: every preset with everything that is known of it, and lines that can be pasted."""

import json
import tomllib
from typing import Any

import pytest

from scenarios.api.runs import make_plan
from scenarios.command.main import main
from scenarios.planning.places import PRESETS


def test_every_preset_is_told_in_eighty_columns(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["list", "places"]) == 0
    text = capsys.readouterr().out
    assert max(map(len, text.splitlines())) <= 80
    flat = " ".join(text.split())
    for preset in PRESETS.values():
        for words in (preset.name, preset.source, preset.valid, preset.leaves_out, *preset.usage):
            assert " ".join(words.split()) in flat
        for parameter in preset.parameters:
            assert f"{parameter.name} " in flat


def test_json_has_the_same(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["list", "places", "--json"]) == 0
    cards = {card["name"]: card for card in json.loads(capsys.readouterr().out)}
    assert set(cards) == set(PRESETS)
    for name, preset in PRESETS.items():
        assert cards[name]["source"] == preset.source
        assert [p["name"] for p in cards[name]["parameters"]] == [p.name for p in preset.parameters]


def test_the_library_is_listed_as_before(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["list"]) == 0
    assert "quickstart" in capsys.readouterr().out


def world(line: str, sets: str) -> dict[str, Any]:
    """Put what is read from a line where a preset of its kind belongs."""
    tree: dict[str, Any] = {
        "schema": 1,
        "run": {"horizon": "1m"},
        "nodes": [{"name": "phones", "count": 3}],
        "mechanism": {"kind": "cd"},
    }
    read = tomllib.loads(line)
    match sets:
        case "session":
            churn = {"on": "all", "downtime": "1m", **read}
            tree["fault"] = [{"at": 0, "churn": churn}]
        case "latency":
            tree["network"] = read
        case "compute":
            tree["nodes"] = [{"count": 3, **read}]
        case "drop-out":
            tree |= {"mechanism": {"kind": "fedavg"}, "run": {"rounds": 5}}
            tree |= {"fault": [{"for": "1m", **read["fault"][0]}]}
        case _:
            raise ValueError(sets)
    return tree


@pytest.mark.parametrize("name", PRESETS)
def test_what_is_to_be_written_can_be_pasted(name: str) -> None:
    preset = PRESETS[name]
    whole = preset.sets == "drop-out"
    for line in ["\n".join(preset.usage)] if whole else preset.usage:
        make_plan(world(line, preset.sets))
