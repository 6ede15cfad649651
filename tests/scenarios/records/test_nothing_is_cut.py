"""What was asked for is told in full: receivers, consequences, metrics, keys, seeds, groups, faults."""

import json
from pathlib import Path

import pytest

from scenarios.api.runs import make_plan
from scenarios.planning.forecast import forecast
from scenarios.planning.forecast import in_words as forecast_in_words
from scenarios.records import divergence
from scenarios.records.sweep_summary import seeds_in_words
from tests.support.builders import perform, scenario
from tests.support.command import hush

MANY = 16
WORLD = scenario(
    network={"topology": "complete", "latency": 0.1},
    nodes=[{"name": "a-group-with-a-name-of-some-length", "count": MANY - 1}, {"name": "b"}],
    fault=[
        {
            "name": f"outage number {k}",
            "at": 1.0 + k / 4,
            "for": 0.1,
            "crash": list(range(MANY - 1)),
        }
        for k in range(24)
    ],
)


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return perform(WORLD, tmp_path_factory.mktemp("runs")).outcome.folder


def first(run: Path, kind: str) -> dict[str, object]:
    lines = hush("show", str(run), "--events", "jsonl").stdout.splitlines()
    events = (json.loads(line) for line in lines)
    found: dict[str, object] = next(event for event in events if event["kind"] == kind)
    return found


def test_every_receiver_of_a_message_is_named(run: Path) -> None:
    sent = first(run, "sent")
    said = hush("explain", str(run), str(sent["seq"])).stdout.splitlines()[0]
    assert "…" not in said
    receivers: list[int] = sent["to"]  # type: ignore[assignment]
    assert len(receivers) == MANY - 1
    assert all(f" {receiver}: " in said for receiver in receivers)


def test_every_consequence_of_a_fault_is_told(run: Path) -> None:
    began = first(run, "fault_began")
    told = json.loads(hush("explain", str(run), str(began["seq"]), "--json").stdout)
    said = hush("explain", str(run), str(began["seq"])).stdout
    assert len(told["then"]) >= MANY - 1
    assert sum(line.startswith("  then ") for line in said.splitlines()) == len(told["then"])


def test_a_message_of_another_event_says_which_command_names_its_receivers(run: Path) -> None:
    lines = hush("show", str(run), "--events", "jsonl").stdout.splitlines()
    sent = next(json.loads(line) for line in lines if '"kind":"sent"' in line)
    said = hush("explain", str(run), str(sent["cause"])).stdout
    assert f"{MANY - 1} receivers, 0 of them lost; explain {sent['seq']} names each" in said


def test_groups_and_digests_stand_in_full(run: Path) -> None:
    said = hush("show", str(run)).stdout
    assert "a-group-with-a-name-of-some-length" in said
    manifest = json.loads((run / "manifest.json").read_text())
    assert f"schedule digest {manifest['digests']['schedule']}" in said


def test_every_fault_is_forecast() -> None:
    lines = forecast_in_words(forecast(make_plan(WORLD)))
    assert sum(line.startswith("  fault ") for line in lines) == len(WORLD["fault"])


def test_every_metric_that_differs_is_told() -> None:
    rows = [{"metric": f"m{k}", "first": 0, "one": 1.0, "other": 2.0} for k in range(50)]
    names = "a-run-with-a-long-name-of-its-own", "b"
    lines = divergence.in_words(rows, names)
    assert len(lines) == 51
    assert names[0] in lines[0]


@pytest.mark.parametrize(
    ("seeds", "words"),
    [
        ([3], "3"),
        ([1, 2], "1, 2"),
        (range(10), "0..9"),
        ([*range(5), 7, 9, 10, 11], "0..4, 7, 9..11"),
    ],
)
def test_every_seed_can_be_read_back(seeds: list[int], words: str) -> None:
    assert seeds_in_words(list(seeds)) == words
    back = [
        seed
        for part in words.split(", ")
        for low, _, high in [part.partition("..")]
        for seed in range(int(low), int(high or low) + 1)
    ]
    assert back == list(seeds)
