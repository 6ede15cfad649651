"""Orders and keys: everything a person can do, without a terminal."""

import asyncio
import json
import math
from pathlib import Path
from typing import Any

import pytest

from scenarios.api.runs import make_plan
from scenarios.console.control.commands import carry_out
from scenarios.console.screens.viewer import viewer_of
from scenarios.console.sources.ending import ending
from scenarios.console.sources.feed import line_of
from scenarios.planning.fault_kinds import FAULTS
from scenarios.records.summary_text import in_words
from scenarios.running.control import RunGovernor
from scenarios.running.run import Run
from tests.support.builders import private
from tests.support.full_disk import Disk
from tests.support.marks import one_in
from tests.support.sessions import WORLD, schedules, session_for, settle, watched


@pytest.mark.slow
@pytest.mark.parametrize("action", one_in(3, FAULTS))
def test_what_the_menu_writes_can_be_done(tmp_path: Path, action: str) -> None:
    """The whole vocabulary by hand, as the menu writes it; then the exported file does the same."""
    run, session = session_for(tmp_path)
    target = "5" if action == "join" else "0"
    order = FAULTS[action].template.format(target)
    said = watched(run, session, "until 3s", order, "step")
    assert f"{order} at 3.0" in said[1], said
    began = [e for e in session.pane.source.run_state.recent if type(e).__name__ == "FaultBegan"]
    assert [e.action for e in began] == [action]  # type: ignore[attr-defined]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("order", "wrong"),
    [
        ("loss 0 p=1.5", "must be a number from 0 to 1"),
        ("loss 0 q=1", "q"),
        ("crash 1 for=-3", "for: must be > 0 and finite, got -3"),
        ("restart 1 for=3s", "restart is done once"),
        ("clock 0 drift=0.1 jump=1s", "needs exactly one of offset, drift, jump, freeze"),
        ("privacy 0 kind=nothing", "nothing"),
        ("crash server", "this kind has no server"),
        ("heal 0", "no fault 0"),
        ("heal x", "heal needs the number of a fault"),
        ("until yesterday", "'yesterday' is no time, such as 42s or +5s, and no condition"),
        ("until 1h", "after the end, at 20 s"),
        ("seek 0", "that is past"),
        ("speed -1", "speed needs a number > 0"),
        ("sort nothing", "no column 'nothing'"),
        ("view nothing", "no view 'nothing'"),
        ("filter nobody", "'nobody' is no agent"),
        ("events nothing", "no event is of kind 'nothing'"),
        ("break loss.maen > 3", "no field of events and no metric is named 'loss.maen'"),
        ("break node ==", "ends too early"),
        ("clear 7", "no breakpoint '7'"),
        ("open 77", "no agent 77"),
        ("export /nowhere/at/all.toml", "cannot be written"),
        ("svg /nowhere/at/all.svg", "nobody draws this"),
        ("nonsense", "no order 'nonsense'"),
        ("step 5", "step takes nothing; got '5'"),
        ("quit now", "quit takes nothing"),
        ("open server", "the server holds no data and has no ledger"),
    ],
)
def test_a_wrong_order_is_answered_and_nothing_happens(
    tmp_path: Path, order: str, wrong: str
) -> None:
    run, session = session_for(tmp_path)
    said = watched(run, session, "until 3s", order)
    assert wrong in said[-1]
    assert not run.journal.steered
    assert [
        e for e in session.pane.source.run_state.recent if type(e).__name__ == "FaultBegan"
    ] == []


def test_sorting_and_filtering_show_the_right_agents(tmp_path: Path) -> None:
    run, session = session_for(tmp_path)
    watched(run, session, "until 5s", "crash 1", "until 9s")
    for sort in ("epsilon", "loss", "releases", "inbox", "stale", "left"):
        carry_out(session, f"sort {sort}")
        rows = session.pane.builder.build(session.pane.view).model.nodes.rows
        values = [
            {
                "epsilon": r.epsilon,
                "loss": r.loss,
                "releases": r.releases,
                "inbox": r.inbox,
                "stale": r.stale_s,
                "left": (r.cap or math.nan) - r.epsilon,
            }[sort]
            for r in rows
        ]
        known = [v for v in values if not math.isnan(v)]
        assert known == sorted(known, reverse=sort != "left")
    carry_out(session, "sort id")
    for text, ids in (
        ("down", [1]),
        ("late", [5]),
        ("0,3..4", [0, 3, 4]),
        ("down,2", [1, 2]),
        ("", list(range(6))),
    ):
        carry_out(session, f"filter {text}")
        assert [
            row.id for row in session.pane.builder.build(session.pane.view).model.nodes.rows
        ] == ids


def test_orders_and_columns_may_be_cut_short_and_all_is_everybody(tmp_path: Path) -> None:
    run, session = session_for(tmp_path)
    watched(run, session, "until 3s", "so rel", "filter 2", "filter all")
    assert (session.pane.view.sort, session.pane.view.filter) == ("releases", "")


def test_pictures_go_where_nothing_is_and_are_pictures(tmp_path: Path) -> None:
    run, _ = session_for(tmp_path)
    viewer = viewer_of(run)
    there, other = tmp_path / "there.svg", tmp_path / "notes.txt"
    there.write_text("mine")
    for path, said in (
        (there, "exists: nothing was written"),
        (other, "must end in .svg"),
        (tmp_path / "new.svg", "wrote"),
    ):
        carry_out(viewer.session, f"svg {path}")
        assert said in viewer.session.message
    assert there.read_text() == "mine"
    assert not other.exists()
    run.recorder.close()


@pytest.mark.parametrize("order", ["svg {}/new.svg", "export {}/new.toml"])
def test_a_full_disk_is_answered_and_the_run_goes_on(tmp_path: Path, order: str) -> None:
    run, _ = session_for(tmp_path)
    session = viewer_of(run).session
    with pytest.MonkeyPatch.context() as patch:
        Disk(0).mount(patch)
        assert not carry_out(session, order.format(tmp_path))
    assert session.message.endswith(": No space left on device")
    assert not list(tmp_path.glob("new.*"))
    assert carry_out(session, order.format(tmp_path))
    run.recorder.close()


def test_a_heal_names_what_it_undoes(tmp_path: Path) -> None:
    run, session = session_for(tmp_path)
    said = watched(run, session, "until 3s", "pause 1", "heal")
    assert said[-1].startswith("fault 0 (pause) is undone at 3.0000000")


def test_faults_by_hand_fit_a_run_that_was_cut_off(tmp_path: Path) -> None:
    """Its file may name what would have come later; the session's file is the same run."""
    later = {"fault": [{"at": 15.0, "crash": [1]}]}
    run, session = session_for(tmp_path, WORLD | later, until=5.0)

    async def person() -> None:
        run.governor.hold()
        task = asyncio.ensure_future(run.perform())
        for order in ("until 3s", "crash 2", "speed max", "play"):
            await settle(run)
            carry_out(session, order)
        await task

    asyncio.run(person())
    mine, theirs = schedules(run, session, tmp_path)
    assert mine == theirs
    assert run.clock.now == 5_000_000_000


@pytest.mark.slow
@pytest.mark.parametrize(
    ("order", "fine"),
    [("privacy 2 kind=replay", False), ("clock 2 drift=0.1", False), ("privacy 2 kind=twin", True)],
)
def test_what_agents_are_not_made_ready_for_is_refused(
    tmp_path: Path,
    order: str,
    fine: bool,  # noqa: FBT001
) -> None:
    """A run at full speed pays for no clocks and no memories of what was sent; its file would have them."""
    run = Run(make_plan(WORLD), tmp_path / "run", RunGovernor(watched=True, looks=True), 1e12)
    session = viewer_of(run).session
    said = watched(run, session, "until 3s", order)
    assert (f"{order} at 3.0" in said[1]) == fine
    assert fine or "only in runs begun at a pace: --speed 100" in said[1]
    run, session = session_for(tmp_path / "ready")
    assert f"{order} at 3.0" in watched(run, session, "until 3s", order)[1]


def test_every_action_is_in_the_journal_with_the_number_of_an_event(tmp_path: Path) -> None:
    run, session = session_for(tmp_path)
    watched(
        run,
        session,
        "step",
        "until 2s",
        "speed 7",
        "crash 1",
        "heal",
        "break node == 2",
        "next woke",
    )
    done = [
        json.loads(line) for line in (run.folder.path / "inputs.jsonl").read_text().splitlines()
    ]
    assert [d["what"] for d in done] == [
        "step",
        "until",
        "speed",
        "fault",
        "heal",
        "break",
        "next",
        "quit",
    ]
    seqs = [d["seq"] for d in done]
    assert seqs == sorted(seqs)
    assert seqs[-1] > 0
    assert done[3]["at"] == done[3]["t"] + 1


@pytest.mark.slow
def test_heal_undoes_what_was_done_at_the_cursor_before_others(tmp_path: Path) -> None:
    """Of what lasts, the newest at the agent under the cursor; where nothing lasts there, the newest of all."""
    run, session = session_for(tmp_path)
    watched(
        run, session, "until 3s", "crash 1", "pause 2", "loss 1-3 p=0.1", "crash 4", "heal", "heal"
    )
    assert _healed(run) == [3, 2]  # the cursor stands on 0, where nothing lasts
    run, session = session_for(tmp_path / "b")
    session.pane.change(opened=1)
    watched(
        run, session, "until 3s", "crash 1", "pause 2", "loss 1-3 p=0.1", "crash 4", *["heal"] * 4
    )
    assert _healed(run) == [2, 0, 3, 1]


def _healed(run: Run) -> list[int]:
    done = (run.folder.path / "inputs.jsonl").read_text().splitlines()
    return [d["fault"] for d in map(json.loads, done) if d["what"] == "heal"]


def test_an_opened_agent_shows_its_own_last_events(tmp_path: Path) -> None:
    """As long as it is open, however much happens elsewhere; and what was last said on each of its links."""
    run, session = session_for(tmp_path, private(network={"topology": "complete", "latency": 0.25}))

    async def person() -> None:
        run.governor.hold()
        task = asyncio.ensure_future(run.perform())
        for order in ("until 3s", "open 2", "until 19s"):
            await settle(run)
            session.pane.builder.build(session.pane.view)  # a frame is drawn
            carry_out(session, order)
        await settle(run)
        session.quit()
        await task

    asyncio.run(person())
    found = session.pane.builder.build(session.pane.view).model.opened
    assert found is not None
    assert [row[0] for row in found.neighbours] == [0, 1, 3, 4, 5]
    assert {row[2:] for row in found.neighbours} == {(0.25, 0.25)}
    mine = session.pane.source.run_state.look_at(2)
    assert len(mine) == 200
    assert all(
        event.node == 2 or 2 in {*getattr(event, "to", ()), getattr(event, "receiver", None)}
        for event in mine
    )
    assert [text for text, _ in found.messages] == [line_of(event, 6)[0] for event in mine][-40:]


def test_who_quits_early_gets_figures_so_far_and_no_verdict(tmp_path: Path) -> None:
    """Half a run shows neither that learning together pays nor that an expectation of its end holds."""
    bound = {"metric": "loss.mean", "at_most": 9.0}
    world = private(
        expect=[
            bound,
            bound | {"when": "always"},
            bound | {"when": "eventually"},
            bound | {"at_most": 0.0, "when": "always"},
        ],
        targets={"good": bound},
    )
    run, session = session_for(tmp_path, world)
    run.clock.at(4_000_000_500, 4 << 32, session.quit)
    summary = asyncio.run(run.perform()).summary
    assert summary["status"] == "interrupted"
    assert [found["verdict"] for found in summary["expectations"]] == [
        "unknown",
        "unknown",
        "pass",
        "fail",
    ]
    told = in_words(summary)
    loss = f"{summary['loss']['mean']:.6g}"
    for wanted in (
        f"  ? expected loss.mean <= 9 (end); {loss} so far (the run was cut off)",
        f"  ? expected loss.mean <= 9 (always); {loss} so far (the run was cut off)",
        "  target    time_to.good = 0 so far",
    ):
        assert wanted in told
    assert any("hold so far; unknown: " in line for line in told)
    assert any(line.strip().startswith("so far private learning is at ") for line in told)
    assert not any("purely local learning here" in line for line in told)
    assert any("so far" in text for text, _ in ending(summary, "", run.folder.path))


@pytest.mark.parametrize(
    "expects", [[], [{"metric": "loss.mean", "at_most": 9.0, "when": "eventually"}]]
)
def test_nothing_that_holds_so_far_is_the_verdict_of_a_run(
    expects: list[Any], tmp_path: Path
) -> None:
    run, session = session_for(tmp_path, private(expect=expects))
    run.clock.at(4_000_000_500, 4 << 32, session.quit)
    assert asyncio.run(run.perform()).summary["verdict"] == "unknown"
