"""What `hush check` warns of: unrelated tasks, an accountant above the cap; what an audit takes, what holds a budget."""

import json
from pathlib import Path
from typing import Any

import pytest

from scenarios.api.runs import make_plan
from scenarios.planning.accountant import KINDS
from scenarios.planning.forecast import forecast
from scenarios.planning.topologies import TOPOLOGIES, OfDataTable
from scenarios.records.summary_text import in_words
from tests.support.builders import perform, private, scenario
from tests.support.command import hush

SEPARATORS = {"source": "separators", "dimension": 5, "points": 20}


def warned(about: str, **sections: Any) -> list[str]:
    plan = make_plan(scenario(**({"nodes": [{"count": 60}]} | sections)))
    return [warning for warning in forecast(plan)["warnings"] if about in warning]


@pytest.mark.parametrize("kind", [k for k in TOPOLOGIES if k not in {"file", "edges", "grid"}])
def test_separators_on_a_graph_that_knows_nothing_of_them_are_warned_of(kind: str) -> None:
    topology = {"kind": kind, **TOPOLOGIES[kind].example}
    found = warned("unrelated tasks", data=SEPARATORS, network={"topology": topology})
    assert bool(found) != issubclass(TOPOLOGIES[kind].table, OfDataTable)


@pytest.mark.parametrize(
    "sections",
    [
        {"data": {"source": "blobs", "dimension": 3, "points": 30}},
        {"data": SEPARATORS, "mechanism": {"kind": "local"}},
    ],
    ids=["one task", "nothing is taken over"],
)
def test_tasks_that_are_one_or_are_not_mixed_are_not_warned_of(sections: dict[str, Any]) -> None:
    assert warned("unrelated tasks", network={"topology": "ring"}, **sections) == []


def gaussian(**privacy: str) -> dict[str, Any]:
    return private(
        mechanism={"kind": "cd", "mu": 1.0, "noise": "gaussian", "releases": 8}, privacy=privacy
    )


def test_an_accountant_above_the_cap_is_warned_of_and_no_other() -> None:
    for name, kind in KINDS.items():
        if not kind.is_headline or not kind.knows_gaussians:
            continue
        told = forecast(make_plan(gaussian(accountant=name)))
        (group,) = told["groups"]
        above = [w for w in told["warnings"] if "above the cap" in w]
        assert bool(above) == (group["epsilon"] > group["cap"] * 1.0001)
        assert all("the cap is held by gaussian" in warning for warning in above)
    assert not [w for w in forecast(make_plan(gaussian()))["warnings"] if "above the cap" in w]


def test_gaussian_as_an_accountant_is_what_is_shown_beside_the_others(tmp_path: Path) -> None:
    by_name = perform(gaussian(accountant="gaussian"), tmp_path).result.summary["epsilon"]
    tightest = perform(gaussian(), tmp_path).result.summary["epsilon"]
    assert by_name["accountant"] == "gaussian"
    assert (
        by_name["max"]
        == tightest["side_by_side"]["gaussian"]
        == by_name["side_by_side"]["gaussian"]
    )


def test_gaussian_is_refused_where_no_release_is(tmp_path: Path) -> None:
    (tmp_path / "x.toml").write_text("")
    from scenarios.language.problems import ScenarioError

    with pytest.raises(
        ScenarioError, match="gaussian says nothing of releases without Gaussian noise"
    ):
        make_plan(private(privacy={"accountant": "gaussian"}))
    assert make_plan(scenario(privacy={"accountant": "gaussian"})).privacy.accountant == "gaussian"


def test_a_summary_says_what_holds_the_cap_what_the_headline_is_and_why_accountants_differ(
    tmp_path: Path,
) -> None:
    summary = perform(gaussian(), tmp_path).result.summary
    assert summary["epsilon"]["held_by"] == ["gaussian"]
    text = "\n".join(in_words(summary))
    assert "each agent's cap is held by gaussian, over all that an eavesdropper sees" in text
    assert "the headline is the least bound that is proved" in text
    assert "each is an upper bound on one loss" in text
    named = perform(gaussian(accountant="zcdp"), tmp_path).result.summary
    assert 'privacy.accountant names: "zcdp"' in "\n".join(in_words(named))
    without = "\n".join(in_words(perform(scenario(), tmp_path).result.summary))
    assert "cap is held" not in without


def test_check_says_what_an_audit_takes(tmp_path: Path) -> None:
    from scenarios.language.writer import to_toml

    (tmp_path / "x.toml").write_text(to_toml(gaussian()))
    said = hush("check", "x.toml", cwd=tmp_path).stdout
    (told,) = json.loads(hush("check", "x.toml", "--json", cwd=tmp_path).stdout)
    audit = told["audit"]
    assert (
        f"about\n            2 × {audit['runs']:,} runs: power {100 * audit['power']:.0f} %" in said
    )
    assert audit["claimed"] == pytest.approx(told["groups"][0]["epsilon"])
    assert audit["updates"] == pytest.approx(2 * audit["runs"] * told["expected"]["updates"])
    (tmp_path / "x.toml").write_text(to_toml(scenario()))
    assert "audit" not in hush("check", "x.toml", cwd=tmp_path).stdout
