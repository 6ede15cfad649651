"""Windows of faults: each opens with its firing and closes once, when it is undone or everybody is back."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.events import FaultBegan, FaultEnded
from scenarios.api.runs import make_plan
from scenarios.console.control.commands import carry_out
from scenarios.console.drawing.styled_text import STATES
from scenarios.console.screens.viewer import Viewer
from scenarios.console.sources.fault_windows import FaultWindows
from scenarios.console.sources.state import RunState
from scenarios.planning.fault_kinds import FAULTS
from scenarios.records.world_facts import Declared, facts_of
from tests.support.builders import perform, private
from tests.support.looks import stood, told
from tests.support.sessions import session_for, watched

SECOND = 10**9


def began(seq: int, fault: int, action: str, *targets: int, until: int = -1) -> FaultBegan:
    return FaultBegan(seq, seq * SECOND, None, None, fault, action, targets, until)


def ended(seq: int, cause: int, fault: int, action: str, *targets: int) -> FaultEnded:
    return FaultEnded(seq, seq * SECOND, None, cause, fault, action, targets)


def test_a_window_is_known_before_open_within_and_closed_after() -> None:
    windows = FaultWindows([Declared("cut", at=5 * SECOND, lasts=3 * SECOND), Declared("later")])
    (coming,) = windows.all(0)
    assert (coming.name, coming.begun_s, coming.until_s, coming.targets) == ("cut", 5.0, 8.0, ())
    assert windows.lasting() == []
    windows.begin(began(5, 0, "partition", 1, 2, until=8 * SECOND))
    (now,) = windows.all(0)
    assert windows.lasting() == [now]
    assert (now.begun_s, now.ended_s, now.until_s, now.targets) == (5.0, None, 8.0, (1, 2))
    windows.end(ended(8, 5, 0, "partition", 1, 2))
    (then,) = windows.all(0)
    assert windows.lasting() == []
    assert then.ended_s == 8.0


def test_what_a_hand_adds_bears_the_name_of_its_action() -> None:
    windows = FaultWindows([Declared("cut")])
    windows.begin(began(1, 0, "partition", 1))
    windows.begin(began(2, 1, "crash", 2))
    assert [(w.name, w.by_hand) for w in windows.all(0)] == [("cut", False), ("crash", True)]


def test_a_restart_is_over_at_once_and_ends_the_absence() -> None:
    windows = FaultWindows([])
    windows.begin(began(1, 0, "crash", 4, 5))
    windows.begin(began(3, 1, "restart", 4))
    windows.bring_back(4, 3 * SECOND)
    assert [w.action for w in windows.lasting()] == ["crash"]
    windows.bring_back(5, 6 * SECOND)
    assert [w.ended_s for w in windows.all(0)] == [6.0, 3.0]


def test_an_end_that_comes_twice_counts_once() -> None:
    windows = FaultWindows([])
    windows.begin(began(1, 0, "crash", 4))
    windows.bring_back(4, 3 * SECOND)
    windows.end(ended(9, 1, 0, "crash", 4))
    assert [w.ended_s for w in windows.all(0)] == [3.0]


@given(st.lists(st.tuples(st.sampled_from(["crash", "loss"]), st.booleans()), max_size=1300))
def test_however_often_a_fault_comes_the_open_ones_are_known(
    firings: list[tuple[str, bool]],
) -> None:
    """Only what is over is forgotten; of the rest, the newest stands first."""
    windows, lasting = FaultWindows([]), list[float]()
    for at, (action, over) in enumerate(firings, 1):
        seq = 2 * at
        windows.begin(began(seq, 0, action, at))
        if over:
            windows.end(ended(seq + 1, seq, 0, action, at))
        else:
            lasting.append(float(seq))
    if len(lasting) <= 1000:
        assert [w.begun_s for w in windows.lasting()] == lasting[::-1]
    assert len(windows.all(0)) <= 1000


def test_the_server_is_hit_by_its_name(tmp_path: Path) -> None:
    run, session = session_for(tmp_path, "federated-dropout")
    watched(run, session, "until 1s", "crash server for=500ms", "step")
    assert session.pane.source.run_state.state(12) == "down"
    assert [session.pane.source.run_state.state(i) for i in range(3)] == ["up"] * 3


def test_nothing_is_undone_twice(tmp_path: Path) -> None:
    """Also where nobody had time to serve the first."""
    run, session = session_for(tmp_path)
    said: list[str] = []

    def twice() -> None:
        if run.clock.now > 3e9 and not said and session.pane.source.run_state.windows.lasting():
            for _ in range(2):
                carry_out(session, "heal 0")
                said.append(session.message)

    run.between.append(twice)
    watched(run, session, "until 4s", "crash 1", "until 6s")
    assert "is undone" in said[0]
    assert "does nothing now that could be undone" in said[1]


def test_what_hit_nobody_says_so(tmp_path: Path) -> None:
    run, session = session_for(tmp_path)
    viewer = Viewer(session)
    watched(run, session, "until 4s", "crash 1", "step")
    viewer.draw(100, 30)
    assert "hit no agent" not in session.message
    run, session = session_for(tmp_path / "b")
    viewer = Viewer(session)
    watched(run, session, "until 4s", "crash 1", "restart 2")
    lines = told(viewer, 100, 30)
    assert session.message.endswith("it hit no agent")
    assert any("#1 restart 2" in line and "hit no agent" in line for line in lines)
    assert any("1 active, 2 known" in line for line in lines)


@pytest.mark.parametrize("action", ["crash", "pause"])
def test_who_is_held_by_two_faults_is_hit_by_both(tmp_path: Path, action: str) -> None:
    """The second keeps it there when the first is over."""
    run, session = session_for(tmp_path)
    viewer = Viewer(session)
    watched(run, session, "until 4s", f"{action} 1 for=1s", f"{action} 1 for=9s", "until 7s")
    lines = told(viewer, 100, 30)
    assert session.pane.source.run_state.state(1) in {"down", "paused"}
    assert "hit no agent" not in "".join(lines) + session.message
    assert any("1 active, 2 known" in line for line in lines)


def test_what_did_not_begin_in_time_does_not(tmp_path: Path) -> None:
    never = {"name": "unlikely", "at": 4.0, "crash": [1], "probability": 1e-9}
    late = {"name": "late", "at": 30.0, "crash": [1]}
    tree = private(fault=[never, late], run={"seed": 5, "horizon": 60.0})
    ran = perform(tree, tmp_path, until=20.0)
    for at, names in ((3.0, ["unlikely"]), (5.0, []), (20.0, [])):
        viewer, _ = stood(ran, at)
        windows = viewer.model(100, 30).windows
        assert [w.name for w in windows] == names
        shown = "\n".join(told(viewer, 100, 30))
        assert ("unlikely" in shown) == bool(names)


def test_an_agent_is_slow_until_the_last_fault_that_slows_it_ends() -> None:
    facts = facts_of(make_plan(private()), (), numerical=False)
    state = RunState(facts)
    state(began(1, 0, "slow", 2, 3))
    state(began(2, 1, "slow", 3))
    state(ended(3, 1, 0, "heal", 2, 3))
    assert (state.state(2), state.state(3)) == ("up", "slow")
    state(ended(4, 2, 1, "heal", 3))
    assert state.state(3) == "up"


def test_every_state_of_a_fault_has_a_sign() -> None:
    assert {kind.state for kind in FAULTS.values()} - {""} <= set(STATES)
