"""What depends on earlier outputs: code of one's own, and agents that made themselves stop (theory.md, 5.5)."""

from pathlib import Path

import pytest

from mechanisms.accounting.compose import by, claims_of
from mechanisms.accounting.loss import tally
from scenarios.api.runs import make_plan
from tests.support.adaptive import MOODY
from tests.support.altered import overflowing
from tests.support.builders import perform, private, scenario


@pytest.mark.parametrize(("delta", "holder"), [(1e-5, "zcdp"), (0.0, "basic")])
def test_an_adaptive_schedule_is_held_by_sums_and_told_by_what_is_valid(
    delta: float, holder: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "own_moody.py").write_text(MOODY)
    monkeypatch.syspath_prepend(str(tmp_path))
    tree = scenario(
        mechanism={"kind": "own_moody:Moody"},
        run={"seed": 3, "horizon": 300.0, "sample_every": 100.0},
        nodes=[{"count": 4, "budget": {"epsilon": 12.0, "delta": delta}}],
    )
    ran = perform(tree, tmp_path, allow_code=True)
    assert ran.outcome.code == 0
    told = ran.outcome.summary["epsilon"]
    assert ran.outcome.summary["refused"] > 0
    charges = {s.charged for a in ran.run.agents for s in a.store.ledger.spends}
    assert charges == {0.1, 0.3}
    for agent in ran.run.agents:
        cap, bag = agent.settings.cap, agent.store.ledger.tally
        assert cap is not None
        assert cap.accountant == holder
        assert by(holder, bag, delta) <= 12.0 * (1 + 1e-9)
        assert claims_of(bag, 1e-5, adaptive=True) == ("basic",)
    assert set(told["side_by_side"]) == {"basic"}
    assert told["max"] <= 12.0 * (1 + 1e-9)
    if holder == "zcdp":
        assert (
            told["side_by_side"]["basic"] > 12.0
        )  # the filter lets more through than the sum would
        assert told["max"] == 12.0  # and what is proved is the cap that was set in advance
        assert told["accountant"] == "zcdp filter"


def test_who_made_itself_stop_is_told_all_that_it_had_planned(tmp_path: Path) -> None:
    """Stopping was decided by its own outputs, so what is valid is the plan's total (theory.md, 5.5)."""
    from actors.events import Charged

    tree = private(run={"seed": 5, "horizon": 60.0}, privacy={"accountant": "kov"})
    made = make_plan(tree)
    import asyncio

    from scenarios.running.control import RunGovernor
    from scenarios.running.run import Run

    run = Run(made, tmp_path / "run", RunGovernor(), 1e12)

    def spoil(event: Charged) -> None:
        if event.node == 2 and event.k == 2:
            run.agents[2].mechanism = overflowing(run.agents[2].mechanism, state_too=True)

    run.log.watch(spoil, (Charged,))
    asyncio.run(run.perform())
    assert run.agents[2].diverged
    assert len(run.agents[2].store.ledger) < 8
    told = run.observers.budget.by("kov")
    whole = by("kov", tally(made.nodes[2].mechanism.schedule(2)), 1e-5)  # type: ignore[attr-defined]
    assert told[2] == pytest.approx(whole)
    assert told[2] == pytest.approx(told[0])


def test_who_stopped_keeps_what_it_spent_and_pays_for_what_was_planned(tmp_path: Path) -> None:
    """A ledger that cost more than the plan (fewer neighbours, pp) does not shrink when its agent diverges."""
    from actors.events import Diverged

    mechanism = {"kind": "pp", "noise": {"start": 2.0}, "releases": 12}
    tree = scenario(
        mechanism=mechanism,
        task={},
        nodes=[{"count": 4, "clock": "synchronous"}],
        run={"seed": 5, "rounds": 10},
        network={"topology": "complete"},
        fault=[{"at": 1.5, "leave": [2, 3]}],
        expect=[{"metric": "epsilon.unsent.max", "at_most": 0.0}],
    )
    ran = perform(tree, tmp_path)
    budget = ran.run.observers.budget
    before = budget.headline()[0]
    assert len(ran.run.agents[0].store.ledger) < 12
    budget.fold([Diverged(10**9, 0, 0, None)])
    assert budget.headline()[0] > before
    assert budget.epsilon_of(0) == pytest.approx(budget.headline()[0])
    assert budget.without([[], [], [], []]).max() == 0.0
    assert budget.side_by_side()["rdp"] >= before
