"""Conditions: what they say of an event is what Python would say of its fields."""

import contextlib
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.conditions import NoCondition, read_condition
from actors.events import KINDS, Charged, Crashed, Released, Sampled, Sent
from actors.log import Log
from clocks.virtual import VirtualClock

RELEASED = Released(7, 5, 3, 1, 2)
SENT = Sent(8, 5, 3, 7, 4, [1, 2], [9, -1], 24)


def metrics(name: str, node: int | None) -> float:
    return {"loss.mean": 0.25}.get(name, math.nan if node is None else float(node))


def holds(text: str, event: object = RELEASED) -> bool:
    return read_condition(text).holds(event, metrics)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ('kind == "released"', True),
        ("kind == 'released' and node == 3", True),
        ('kind == "released" and node == 4', False),
        ('kind == "sent" or k == 2', True),
        ("not k == 2", False),
        ("not (k == 2 and node == 4)", True),
        ("k != 2", False),
        ("k < 3 and k <= 2 and k > 1 and k >= 2", True),
        ("node in [1, 3]", True),
        ("node not in [1, 3]", False),
        ("loss.mean < 0.3", True),
        ("epsilon == 3", True),
        ("bytes > 0", False),
        ("not bytes > 0", True),
        ("k == 2 or node == 9 and k == 9", True),
        ("(k == 2 or node == 9) and k == 9", False),
        ("k == -2", False),
        ("k < 2.5e0", True),
        ('node == "three"', False),
        ('node < "three"', False),
    ],
)
def test_a_condition_says_what_it_says(text: str, wanted: bool) -> None:  # noqa: FBT001
    assert holds(text) is wanted


def test_lists_in_events_can_be_looked_into() -> None:
    assert holds("2 in to", SENT)
    assert holds("3 not in to", SENT)
    assert not holds("2 in to")  # a release has no receivers


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "ends too early"),
        ("node", "needs a comparison after node"),
        ("node ==", "ends too early"),
        ("node = 3", "cannot be read at character 6"),
        ("(node == 3", "a parenthesis is not closed"),
        ("node == 3)", "does not end where it should"),
        ("node == 3 node", "does not end where it should"),
        ("3 == 3", "asks nothing of an event"),
        ('kind == "relased"', "did you mean 'released'"),
        ("node == 3 and " * 20 + "k == 1", "at most 200 characters"),
        ("not " * 30 + "k == 1", "deep"),
        ("node not 3", "'not' after a value goes with 'in'"),
        ("node in [1, k]", "a list holds numbers and texts"),
        ("__import__('os')", "needs a comparison|cannot be read"),
    ],
)
def test_what_is_no_condition_says_why(text: str, why: str) -> None:
    with pytest.raises(NoCondition, match=why):
        read_condition(text)


@given(st.text(alphabet="nodek =<>!()[]'\"0123456789.andort,-_x", max_size=60))
def test_no_text_breaks_the_reader(text: str) -> None:
    with contextlib.suppress(NoCondition):
        read_condition(text).holds(RELEASED, metrics)


def test_only_kinds_that_can_satisfy_it_are_looked_at() -> None:
    assert read_condition('kind == "released" and node == 3').kinds == (Released,)
    assert set(read_condition('kind in ["released", "charged"]').kinds) == {Released, Charged}
    assert set(read_condition('kind == "crashed" or kind == "sampled"').kinds) == {Crashed, Sampled}
    assert read_condition('not kind == "released"').kinds == KINDS
    assert read_condition('kind == "released" or node == 3').kinds == KINDS


@given(
    st.sampled_from(["k", "node", "seq", "t"]),
    st.integers(-3, 9),
    st.sampled_from(["==", "<", ">="]),
)
def test_negation_is_negation(name: str, value: int, sign: str) -> None:
    text = f"{name} {sign} {value}"
    assert holds(text) != holds(f"not ({text})")


def test_watching_some_kinds_hears_no_others() -> None:
    log, heard = Log(VirtualClock()), list[object]()
    condition = read_condition('kind == "crashed"')
    log.watch(heard.append, condition.kinds)
    log.emit(Crashed, 1, None, "volatile")
    log.emit(Released, 1, None, 0)
    assert [type(event) for event in heard] == [Crashed]


def test_who_is_told_nothing_any_more_hears_nothing() -> None:
    log, heard = Log(VirtualClock()), list[object]()

    def listen(event: object) -> None:
        heard.append(event)

    log.watch(listen, (Crashed, Released))
    log.ignore(listen, (Crashed,))
    log.emit(Crashed, 1, None, "volatile")
    log.emit(Released, 1, None, 0)
    assert [type(event) for event in heard] == [Released]
