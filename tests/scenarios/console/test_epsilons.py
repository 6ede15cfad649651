"""What a screen says of privacy is what ledgers hold: in a row, for all, live, replayed, and whom it does not cover."""

import asyncio
import json
import sys
from pathlib import Path

import pytest

from actors.events import Charged, Diverged
from scenarios.api.runs import make_plan
from scenarios.console.screens.viewer import Viewer, viewer_of
from scenarios.console.sources.recording import Recording
from scenarios.records.reader import RunRecord
from scenarios.running.control import RunGovernor
from scenarios.running.run import Run
from tests.support.adaptive import MOODY
from tests.support.altered import overflowing
from tests.support.builders import perform, private, scenario
from tests.support.looks import HOSTILE, stood, told
from tests.support.sessions import session_for, watched


@pytest.mark.parametrize(
    ("law", "unit"), [("gaussian", "μ"), ("laplace", "ε"), ("norm-gamma", "ε")]
)
def test_a_ledger_says_in_what_it_counts(tmp_path: Path, law: str, unit: str) -> None:
    mechanism = {"kind": "cd", "mu": 1.0, "noise": law, "releases": 4}
    ran = perform(private(mechanism=mechanism), tmp_path)
    viewer, control = stood(ran, 20.0)
    viewer.session.pane.change(opened=0)
    found = viewer.model(130, 40).opened
    assert found is not None
    (line,) = found.ledger  # four equal releases are one line
    spend = control.source.ledger(0, 1)[0][1]
    assert line.split()[0] == "0–3"
    assert f"4 releases, each costs {unit} {spend.charged:.4g}" in line


def test_what_a_hand_did_and_what_an_oracle_chose_is_not_covered(tmp_path: Path) -> None:
    run, session = session_for(tmp_path)
    watched(run, session, "until 3s", "crash 1", "until 5s")
    manifest = json.loads((run.folder.path / "manifest.json").read_text())
    assert manifest["steered_by_hand"]
    heads = [told(Viewer(session))[1], told(stood(run, 5.0)[0])[1]]
    for head in heads:
        assert head.startswith(" BY HAND ε NOT COVERED  ε: ")
    oracle = {"at": 5.0, "crash": {"highest": "loss", "count": 1}, "oracle": True}
    chosen = perform(private(fault=[oracle]), tmp_path / "chosen")
    assert told(stood(chosen, 9.0)[0])[1].startswith(" ε NOT COVERED  ε: ")
    assert told(stood(perform(private(), tmp_path / "fair"), 9.0)[0])[1].startswith(" ε: ")


def test_whoever_kills_a_steered_run_finds_that_it_was_steered(tmp_path: Path) -> None:
    run, session = session_for(tmp_path)
    found: list[bool] = []

    def look() -> None:
        manifest = json.loads((run.folder.path / "manifest.json").read_text())
        found.append(manifest["steered_by_hand"])

    run.between.append(look)
    watched(run, session, "until 3s", "crash 1", "until 5s")
    assert found[0] is False
    assert found[-2] is True


def test_what_was_lost_was_paid_for_where_it_was(tmp_path: Path) -> None:
    """Releases are charged, whatever becomes of them; what follows from others is free."""
    ran = perform(HOSTILE | {"run": {"seed": 5, "horizon": 40.0}}, tmp_path)
    all_of_them = list(RunRecord(ran.outcome.folder).events())
    released = {e["seq"] for e in all_of_them if e["kind"] == "released"}
    paid = {
        (e["node"], e["version"])
        for e in all_of_them
        if e["kind"] == "sent" and e["cause"] in released
    }
    viewer, _ = stood(ran, 11.0)
    viewer.session.pane.events("lost")
    lost = [e for e in all_of_them if e["kind"] == "lost" and e["t"] <= 11e9][-60:]
    shown = viewer.session.pane.builder.build(viewer.session.pane.view).model.feed.lines
    said = [" charged ✓" in text for text, _ in shown]
    assert said == [(e["node"], e["version"]) in paid for e in lost]
    assert {True, False} == set(said)


@pytest.mark.slow
def test_every_epsilon_is_that_of_all(tmp_path: Path) -> None:
    """One agent's, everybody's, the summary's, and a replay's: also of who diverged, or composes at the end only."""

    def check(run: Run, tree_rel: float = 1e-7) -> None:
        recording = Recording(RunRecord(run.folder.path))
        recording.seek(recording.length)
        told = [node["epsilon"] for node in recording.record.summary["nodes"]]
        rows = [recording.epsilon(i) for i in range(run.plan.size)]
        live = [run.observers.budget.epsilon_of(i) for i in range(run.plan.size)]
        assert rows == pytest.approx(told, rel=tree_rel)
        assert live == list(run.observers.budget.headline())
        assert rows == list(recording.epsilons())

    exploding = Run(make_plan(private()), tmp_path / "exploding", RunGovernor(looks=True), 1e12)

    def spoil(event: Charged) -> None:
        if event.node == 2 and event.k == 2:
            exploding.agents[2].mechanism = overflowing(
                exploding.agents[2].mechanism, state_too=True
            )

    seen: list[tuple[float, float]] = []

    def look(_: Diverged) -> None:
        exploding.log.drain()
        budget = exploding.observers.budget
        seen.append((budget.epsilon_of(2), float(budget.headline()[2])))

    def remember(_: Charged) -> None:
        exploding.log.drain()
        exploding.observers.budget.headline()

    exploding.log.watch(remember, (Charged,))
    exploding.log.watch(look, (Diverged,))
    exploding.log.watch(spoil, (Charged,))
    asyncio.run(exploding.perform())
    assert exploding.agents[2].diverged
    assert [one == all_of_them for one, all_of_them in seen] == [True]
    check(exploding)
    many = {"kind": "cd", "mu": 1.0, "noise": "laplace", "releases": 600, "clip": 1.0}
    nodes = [
        {
            "count": 3,
            "clock": {"kind": "poisson", "rate": 20.0},
            "budget": {"epsilon": 4.0, "delta": 1e-5},
        }
    ]
    often = private(
        run={"seed": 5, "horizon": 40.0},
        nodes=nodes,
        mechanism=many,
        privacy={"calibrate": "kov"},
        network={"topology": "complete"},
    )
    ran = perform(often, tmp_path / "often")
    assert not ran.run.observers.budget.is_live
    check(ran.run)


def test_an_adaptive_cap_is_what_a_row_says_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "own_rows.py").write_text(MOODY)
    monkeypatch.syspath_prepend(str(tmp_path))
    sys.modules.pop("own_rows", None)
    tree = scenario(
        mechanism={"kind": "own_rows:Moody"},
        run={"seed": 3, "horizon": 100.0, "sample_every": 50.0},
        nodes=[{"count": 4, "budget": {"epsilon": 2.0, "delta": 1e-5}}],
    )
    ran = perform(tree, tmp_path / "run", allow_code=True)
    budget = ran.run.observers.budget
    assert [budget.epsilon_of(i) for i in range(4)] == list(budget.headline())
    assert max(budget.headline()) <= 2.0
    recording = Recording(RunRecord(ran.outcome.folder))
    recording.seek(recording.length)
    assert [recording.epsilon(i) for i in range(4)] == list(recording.epsilons())


@pytest.mark.slow
def test_a_table_of_hundreds_says_what_is_spent_now(tmp_path: Path) -> None:
    """Above four hundred, too: in the first frame as in the second, live and replayed."""
    nodes = [{"name": "peers", "count": 401, "budget": {"epsilon": 4.0, "delta": 1e-5}}]
    ran = perform(private(nodes=nodes, run={"seed": 5, "horizon": 6.0}), tmp_path)
    viewer, control = stood(ran, 5.5)
    viewer.session.pane.change(scale="table")
    frames = [told(viewer, 100, 40) for _ in range(2)]
    assert frames[0][3:-3] == frames[1][3:-3]
    source = control.source
    rows = viewer.model(100, 40).nodes.rows
    assert [row.epsilon for row in rows] == [source.epsilons()[row.id] for row in rows]
    assert max(row.epsilon for row in rows) > 1.0
    assert viewer.model(100, 40).nodes.epsilon_worst == source.epsilons().max()


def test_a_live_screen_draws_what_an_open_ledger_says(tmp_path: Path) -> None:
    """Opened, an agent's ledger names each of its releases once, the last one last; equal ones share a line."""
    run = Run(make_plan(private()), tmp_path / "run", RunGovernor(looks=True), 1e12)
    viewer = viewer_of(run)
    viewer.session.pane.change(opened=3)
    asyncio.run(run.perform())
    found = viewer.model(120, 50).opened
    assert found is not None
    named = [line.split()[0].partition("–") for line in found.ledger]
    listed = [k for one, _, last in named for k in range(int(one), int(last or one) + 1)]
    assert listed == list(range(len(run.agents[3].store.ledger)))
