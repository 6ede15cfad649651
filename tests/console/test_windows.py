"""Windows of faults: each opens with its firing and closes once, when it is undone or everybody is back."""

from hypothesis import given
from hypothesis import strategies as st

from actors.events import FaultBegan, FaultEnded
from scenarios.console.windows import Windows
from scenarios.facts import Declared

SECOND = 10**9


def began(seq: int, fault: int, action: str, *targets: int, until: int = -1) -> FaultBegan:
    return FaultBegan(seq, seq * SECOND, None, None, fault, action, targets, until)


def ended(seq: int, cause: int, fault: int, action: str, *targets: int) -> FaultEnded:
    return FaultEnded(seq, seq * SECOND, None, cause, fault, action, targets)


def test_a_window_is_known_before_open_within_and_closed_after() -> None:
    windows = Windows([Declared("cut", at=5 * SECOND, lasts=3 * SECOND), Declared("later")])
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
    windows = Windows([Declared("cut")])
    windows.begin(began(1, 0, "partition", 1))
    windows.begin(began(2, 1, "crash", 2))
    assert [(w.name, w.by_hand) for w in windows.all(0)] == [("cut", False), ("crash", True)]


def test_a_restart_is_over_at_once_and_ends_the_absence() -> None:
    windows = Windows([])
    windows.begin(began(1, 0, "crash", 4, 5))
    windows.begin(began(3, 1, "restart", 4))
    windows.bring_back(4, 3 * SECOND)
    assert [w.action for w in windows.lasting()] == ["crash"]
    windows.bring_back(5, 6 * SECOND)
    assert [w.ended_s for w in windows.all(0)] == [6.0, 3.0]


def test_an_end_that_comes_twice_counts_once() -> None:
    windows = Windows([])
    windows.begin(began(1, 0, "crash", 4))
    windows.bring_back(4, 3 * SECOND)
    windows.end(ended(9, 1, 0, "crash", 4))
    assert [w.ended_s for w in windows.all(0)] == [3.0]


@given(st.lists(st.tuples(st.sampled_from(["crash", "loss"]), st.booleans()), max_size=1300))
def test_however_often_a_fault_comes_the_open_ones_are_known(
    firings: list[tuple[str, bool]],
) -> None:
    """Only what is over is forgotten; of the rest, the newest stands first."""
    windows, lasting = Windows([]), list[float]()
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
