"""What the screen says at an event is what the agents hold, and what the recording says at that event."""

import asyncio
import math
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import astuple
from pathlib import Path
from typing import Any

import pytest

from actors.agent import UP
from mechanisms.accounting.disclosure import Reader, epsilon_of
from mechanisms.accounting.loss import Tally
from mechanisms.accounting.spend import Spend
from mechanisms.accounting.views import add_in
from scenarios.api.runs import make_plan
from scenarios.console.drawing.styled_text import amount
from scenarios.console.screens.viewer import viewer_of
from scenarios.console.sources.recording import Recording
from scenarios.console.sources.source import LiveSource, Source
from scenarios.experiments.random_worlds import Dice, small_world
from scenarios.records.reader import RunRecord
from scenarios.running.control import RunGovernor
from scenarios.running.run import Run
from tests.support.builders import perform, private
from tests.support.marks import one_in


def said(source: Source) -> dict[str, Any]:
    """Everything that a screen may say of a run, but for how fast it goes."""
    source.refresh()
    size = source.facts.size
    state = source.run_state
    return {
        "seq": source.seq,
        "messages": source.messages(),
        "terms": source.terms(),
        "epsilons": source.epsilons().tolist(),
        "epsilon": [source.epsilon(i) for i in range(size)],
        "releases": [source.releases(i) for i in range(size)],
        "inbox": [source.inbox(i) for i in range(size)],
        "stale": [round(source.stale(i), 9) for i in range(size)],
        "ledger": [[(k, *astuple(s)) for k, s in source.ledger(i, 3)] for i in range(size)],
        "states": [state.state(i) for i in range(source.facts.seats)],
        "windows": state.windows.all(source.now),
        "trend": [state.losses_of(i) for i in range(size)],
        "history": [state.histories.series(name) for name in state.histories.names],
        "paces": state.paces(),
        "links": {
            (i, j): source.last_to(i, j)
            for i, near in enumerate(source.facts.neighbours())
            for j in near
        },
        "recent": [e.seq for e in state.recent][-400:],
        "notable": [e.seq for e in state.notable],
        "round": state.round,
    }


def _epsilon(run: Run, i: int, spends: Sequence[Spend]) -> float:
    """What one ledger costs, composed as this run's samples compose."""
    privacy, node = run.plan.privacy, run.plan.nodes[i]
    reader = Reader(privacy.view, privacy.accountant, node.delta, node.cap, privacy.adaptive)
    but = () if run.observers.budget.is_live else ("pld",)
    return epsilon_of(add_in(privacy.view, Tally(), spends), reader, but=but)[0]


def truth(run: Run) -> dict[str, Any]:
    """What the agents themselves hold."""

    def state(agent: Any) -> str:
        if agent.diverged:
            return "diverged"
        if agent.status != UP:
            return str(agent.status)
        if agent.fault_state.paused:
            return "paused"
        return "spent" if agent.spent else "slow" if agent.fault_state._factors else "up"

    return {
        "states": [state(agent) for agent in run.members.agents],
        "releases": [len(agent.store.ledger) for agent in run.agents],
        "epsilon": [_epsilon(run, a.id, a.store.ledger.spends) for a in run.agents],
    }


def looked_at(tree: Any, folder: Path, often: int) -> tuple[Run, list[tuple[dict[str, Any], int]]]:
    """Run a world, and look at it before every so-manieth entry, as a screen would."""
    governor = RunGovernor(watched=True, looks=True)
    run = Run(make_plan(tree), folder / "run", governor, 1e12)
    source, found, turn = LiveSource(run), list[tuple[dict[str, Any], int]](), 0

    def allowance(_: int) -> float:
        nonlocal turn
        turn += 1
        if turn % often == 0:
            now = said(source)
            held = truth(run)
            silent = ["spent" if state == "done" else state for state in now["states"]]
            assert silent == held["states"]
            assert now["releases"] == held["releases"]
            if run.plan.privacy.view == "eavesdropper" and "diverged" not in held["states"]:
                assert now["epsilon"] == held["epsilon"] or run.plan.kind == "local"
            found.append((now, source.now))
        return 0.0

    governor.free = False
    governor.allowance = allowance  # type: ignore[method-assign,assignment] # somebody who looks at entries
    asyncio.run(run.perform())
    return run, found


def equal(one: Any, other: Any) -> bool:
    """Whether two things are the same, NaN being what it is."""
    if isinstance(one, float) and isinstance(other, float):
        same = math.isclose(one, other, rel_tol=1e-7, abs_tol=1e-9)  # files round charges up
        return same or (math.isnan(one) and math.isnan(other))
    if isinstance(one, (list, tuple)) and isinstance(other, (list, tuple)):
        return len(one) == len(other) and all(map(equal, one, other))
    return bool(one == other)


def compare(run: Run, found: list[tuple[dict[str, Any], int]]) -> None:
    recording = Recording(RunRecord(run.folder.path))
    for live, now in found:
        recording.seek_event(live["seq"])
        recording.now = now
        replayed = said(recording)
        for key, value in live.items():
            assert equal(value, replayed[key]), f"{key} at event {live['seq']}"


@pytest.mark.parametrize("number", one_in(5, range(80)))
def test_a_screen_says_the_same_live_and_replayed(tmp_path: Path, number: int) -> None:
    """At random events of random worlds with faults: the agents, the screen and the recording agree."""
    luck = Dice(20261120, number)
    run, found = looked_at(small_world(luck, faults=3), tmp_path, luck.whole(3, 40))
    compare(run, found)


@pytest.mark.parametrize("number", one_in(5, range(25)))
def test_watching_changes_nothing(tmp_path: Path, number: int) -> None:
    """However often somebody looks, both digests are those of a run that nobody watches."""
    luck = Dice(20261122, number)
    tree = small_world(luck, faults=2)
    quiet = perform(tree, tmp_path / "quiet").digests
    for often in (1, luck.whole(2, 50)):
        run, _ = looked_at(tree, tmp_path / str(often), often)
        assert RunRecord(run.folder.path).manifest["digests"] == quiet


ROW = re.compile(r"│ +(\d+) . (\w+) +\S* +(\S+?)/(\S+) +(\S+)  .{8,40} +(\d+) +(\d+) +(\S+) +│")


@pytest.mark.parametrize("number", one_in(5, range(40)))
def test_what_is_drawn_is_what_was_recorded(tmp_path: Path, number: int) -> None:
    """At random events of random worlds: the text on the screen, the ledgers, and afterwards the files up to there."""
    luck = Dice(20261121, number)
    run = Run(
        make_plan(small_world(luck, faults=3)), tmp_path / "run", RunGovernor(looks=True), 1e12
    )
    viewer, often, turn = viewer_of(run), luck.whole(3, 40), 0
    drawn: list[tuple[int, list[str]]] = []

    def allowance(_upcoming: int) -> float:
        nonlocal turn
        turn += 1
        if turn % often == 0:
            shown = ["".join(text for text, _ in line) for line in viewer.draw(120, 60)]
            drawn.append((run.log.seq, shown))
            rows = [found.groups() for found in map(ROW.fullmatch, shown) if found]
            assert len(rows) == run.plan.size
            for node, state, epsilon, cap, _, count, _, _ in rows:
                agent = run.agents[int(node)]
                assert state == viewer.session.pane.source.run_state.state(agent.id)
                assert int(count) == len(agent.store.ledger)
                assert epsilon == amount(run.observers.budget.epsilon_of(agent.id), room=5)
                held = run.plan.nodes[agent.id].cap
                assert cap == ("—" if held is None else f"{held.epsilon:g}")
        return 0.0

    governor = run.governor
    governor.free = False
    governor.allowance = allowance  # type: ignore[method-assign,assignment] # somebody who looks at entries
    asyncio.run(run.perform())
    charges = [line["seq"] for line in RunRecord(run.folder.path).ledger_lines()]
    kinds = [
        (e["seq"], e["kind"], len(e.get("to", ""))) for e in RunRecord(run.folder.path).events()
    ]
    for at, shown in drawn:
        counts: Counter[str] = Counter()
        for seq, kind, receivers in kinds:
            if seq <= at:
                counts[kind] += receivers if kind == "sent" else 1
        sums = " ".join(shown[-3:-1]).replace(",", "")
        flying = (
            counts["sent"]
            + counts["duplicated"]
            - sum(counts[k] for k in ("delivered", "lost", "rejected"))
        )
        copies = f" + copies {counts['duplicated']}" if counts["duplicated"] else ""
        assert (
            f" messages {counts['sent']}{copies} = delivered {counts['delivered']} + lost {counts['lost']} "
            f"+ rejected {counts['rejected']} + in flight {flying} ✓"
        ) in sums
        made, paid = counts["released"], sum(seq <= at for seq in charges)
        assert f"releases {made} {'=' if made == paid else '≤'} charged {paid} ✓" in sums


def test_the_last_look_is_the_summary(tmp_path: Path) -> None:
    run, _ = looked_at(private(), tmp_path, 10**9)
    recording = Recording(RunRecord(run.folder.path))
    recording.seek(recording.length)
    summary = recording.record.summary
    told = recording.messages()
    assert recording.upcoming is None
    assert recording.over
    assert (
        told.charged == summary["releases"] == len(list(RunRecord(run.folder.path).ledger_lines()))
    )
    counts = summary["messages"]
    assert (told.sent, told.delivered, told.lost, told.flying) == (
        counts["sent"],
        counts["delivered"],
        counts["lost"],
        counts["in_flight"],
    )
    assert float(recording.epsilons().max()) == pytest.approx(summary["epsilon"]["max"])
    assert [node["state"] for node in summary["nodes"]] == [
        "spent" if state == "done" else state  # a summary asks only whether it releases no more
        for state in map(recording.run_state.state, range(6))
    ]


def test_a_recording_goes_back_to_what_it_was(tmp_path: Path) -> None:
    run, _ = looked_at(private(), tmp_path, 10**9)
    recording = Recording(RunRecord(run.folder.path))
    recording.seek(7_000_000_000)
    there = said(recording)
    recording.seek(15_000_000_000)
    assert said(recording)["seq"] > there["seq"]
    recording.seek(7_000_000_000)
    assert equal(list(said(recording).values()), list(there.values()))
    assert recording.now == 7_000_000_000
