"""What faults do to messages of one link, each by its own law. Statistical laws state how rarely a true one fails.

Errors are bounded by Hoeffding (1963): of n independent draws with a mean p, the share is off by t with probability
at most 2 exp(−2 n t²). With n = 20,000 and t = 0.02 that is 2·10⁻⁷.
"""

import math
from itertools import groupby

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.faults.link_effects import (
    BurstLoss,
    Chance,
    Corruption,
    Duplication,
    ExtraDelay,
    Hold,
    LinkEffect,
    Passage,
    Poisoning,
    RandomLoss,
    RateLimit,
    Reordering,
    happens,
)
from actors.links import HELD, Links, Policy
from actors.log import Log
from actors.mailbox import Mailbox
from actors.messages import Message
from clocks.durations import Constant, uniform
from clocks.virtual import VirtualClock
from scenarios.planning.seeds import draws, keys

MANY, OFF = 20_000, 0.02


def luck(name: str = "x") -> Chance:
    return Chance(draws(1, name))


def message(version: int = 0, vector: np.ndarray | None = None, *, asks: bool = False) -> Message:
    return Message(0, version, 0, np.ones(3) if vector is None else vector, 1, asks)


def passage(now: int = 0, size: int = 24, delay: int = 10, of: Message | None = None) -> Passage:
    return Passage(now, size, delay, of or message(), lambda bits: int(bits[0] >> np.uint64(60)))


def judged(effect: LinkEffect, count: int = MANY) -> list[Passage]:
    found = [passage(now) for now in range(count)]
    for one in found:
        effect.judge(one)
    return found


@pytest.mark.slow
@pytest.mark.parametrize("p", [0.0, 0.1, 0.5, 1.0])
def test_chances_are_what_they_say(p: float) -> None:
    lost = np.mean([one.lost for one in judged(RandomLoss(0, luck(), p))])
    corrupt = np.mean([one.corrupt for one in judged(Corruption(0, luck(), p))])
    doubled = np.mean([len(one.copies) for one in judged(Duplication(0, luck(), p))])
    held = np.mean([one.held for one in judged(Reordering(0, luck(), p))])
    for share in (lost, corrupt, doubled, held):
        assert abs(share - p) <= (OFF if 0 < p < 1 else 0)


@pytest.mark.slow
@pytest.mark.parametrize(("enter", "leave"), [(0.1, 0.5), (0.05, 0.2)])
def test_bursts_are_geometric(enter: float, leave: float) -> None:
    """A burst ends at each message with `leave`: its mean length is 1/leave; the chain is lost enter/(enter+leave) of the time."""
    fates = [one.lost for one in judged(BurstLoss(0, luck(), enter, leave, 0.0, 1.0), 200_000)]
    bursts = [len(list(group)) for lost, group in groupby(fates) if lost]
    spread = math.sqrt(1 - leave) / leave / math.sqrt(len(bursts))
    assert abs(np.mean(bursts) - 1 / leave) < 5.5 * spread  # 4e-8 of a normal
    alone = np.mean([length == 1 for length in bursts])
    assert abs(alone - leave) < 5.5 * math.sqrt(leave * (1 - leave) / len(bursts))
    assert np.mean(fates) == pytest.approx(enter / (enter + leave), rel=0.1)


def test_a_chain_that_never_leaves_is_a_cut() -> None:
    fates = [one.lost for one in judged(BurstLoss(0, luck(), 1.0, 0.0, 0.0, 1.0), 50)]
    assert fates == [False] + [True] * 49


@pytest.mark.slow
@pytest.mark.parametrize("correlation", [0.0, 0.3, 0.9])
def test_correlated_delays_keep_their_distribution(correlation: float) -> None:
    """Mean and lag-1 correlation; a chain of n draws counts as n(1−ρ)/(1+ρ) independent ones."""
    found = judged(ExtraDelay(0, luck(), uniform(0.0, 1.0), correlation), 60_000)
    delays = np.array([one.delay - 10 for one in found]) / 1e9
    worth = len(delays) * (1 - correlation) / (1 + correlation)
    assert abs(delays.mean() - 0.5) < 5.5 / math.sqrt(12 * worth)
    lag = np.corrcoef(delays[:-1], delays[1:])[0, 1]
    assert abs(lag - correlation) < 6 / math.sqrt(worth)


@given(
    st.lists(st.tuples(st.integers(0, 2_000_000), st.integers(0, 400)), min_size=1, max_size=30),
    st.integers(1, 10_000),
    st.integers(0, 1000),
)
def test_a_token_bucket_never_passes_more_than_burst_and_rate(
    steps: list[tuple[int, int]], rate: int, burst: int
) -> None:
    """In any window of length t no more than burst + rate·t bytes leave, but for the one that is on its way; in order."""
    bucket, now = RateLimit(0, float(rate), float(burst)), 0
    left = list[tuple[int, int]]()
    for gap, size in steps:
        now += gap
        one = passage(now, size, 0)
        bucket.judge(one)
        left.append((now + one.delay, size))
    assert [at for at, _ in left] == sorted(at for at, _ in left)
    for first in range(len(left)):
        for last in range(first, len(left)):
            passed = sum(size for _, size in left[first + 1 : last + 1])
            window = (left[last][0] - left[first][0] + len(left)) / 1e9
            assert passed <= burst + rate * window + 1e-6


def test_a_link_without_a_burst_takes_as_long_as_its_bytes() -> None:
    bucket = RateLimit(0, 1000.0)
    first, second = passage(0, 500, 0), passage(0, 500, 0)
    assert bucket.judge(first)
    assert bucket.judge(second)
    assert (first.delay, second.delay) == (500_000_000, 1_000_000_000)
    later = passage(5_000_000_000, 250, 0)
    bucket.judge(later)
    assert later.delay == 250_000_000


def test_a_burst_goes_at_once_and_fills_again() -> None:
    bucket = RateLimit(0, 100.0, 100.0)
    waits = []
    for now in (0, 0, 10**9, 3 * 10**9):
        one = passage(now, 100, 0)
        bucket.judge(one)
        waits.append(one.delay)
    assert waits == [0, 10**9, 10**9, 0]


def test_a_copy_is_never_of_what_was_lost_and_questions_can_be_told() -> None:
    lost = passage()
    lost.lost = True
    assert not Duplication(0, luck(), 1.0).judge(lost)
    asking = Duplication(0, luck(), 1.0, asking=True)
    assert not asking.judge(passage())
    assert asking.judge(passage(of=message(asks=True)))


def test_poison_turns_the_model_round_and_leaves_the_rest() -> None:
    one = passage(of=message(vector=np.array([1.0, -2.0, 5.0])))
    Poisoning(0, 10.0, 2).judge(one)
    assert one.message.vector is not None
    assert one.message.vector.tolist() == [-10.0, 20.0, 5.0]
    assert not Poisoning(0, 10.0, 2).judge(passage(of=Message(0, 0, 0, None, 1)))


class Keeping(Mailbox):
    """A mailbox that keeps what is posted, in the order in which it is."""

    def __init__(self) -> None:
        clock = VirtualClock()
        super().__init__(7, clock, Log(clock))
        self.posted: list[tuple[int, Message]] = []

    def post(self, arrival: int, sent: int, message: Message) -> None:
        super().post(arrival, sent, message)
        self.posted.append((arrival, message))


class Wire:
    """One link, and what came out of it."""

    def __init__(self) -> None:
        self.box = Keeping()
        self.fan = Links([7], [Policy(Constant(0.0))], keys(1, ["a"]), [self.box])

    @property
    def out(self) -> list[tuple[int, int]]:
        return [(at, message.version) for at, message in self.box.posted]

    def send(self, now: int, version: int) -> int:
        one = self.fan.apply_effects(0, now, 24, 10, message(version))
        self.fan.put(0, one, one.delay, 1)
        if one.held:
            return HELD
        self.fan.release_overtaken(0, now + one.delay)
        return now + one.delay


def test_what_is_held_goes_on_when_the_last_hold_ends() -> None:
    wire = Wire()
    first, second = Hold(0), Hold(1)
    wire.fan.add_effect(0, first)
    wire.fan.add_effect(0, second)
    assert wire.send(0, 1) == wire.send(5, 2) == HELD
    assert wire.fan.held_count == 2
    wire.fan.remove_effect(0, first, 100)
    assert wire.out == []
    wire.fan.remove_effect(0, second, 200)
    assert wire.out == [(210, 1), (210, 2)]
    assert not wire.fan.held_count
    assert not wire.fan.effects


def test_who_is_overtaken_arrives_after_the_next() -> None:
    wire = Wire()
    overtaking = Reordering(0, luck(), 1.0)
    wire.fan.add_effect(0, overtaking)
    assert wire.send(0, 1) == HELD
    wire.fan.effects[0][0].p = 0.0  # type: ignore[attr-defined] # the next one goes straight
    assert wire.send(50, 2) == 60
    assert wire.out == [(60, 2), (61, 1)]


def test_nothing_is_overtaken_for_ever() -> None:
    wire = Wire()
    overtaking = Reordering(0, luck(), 1.0)
    wire.fan.add_effect(0, overtaking)
    wire.send(0, 1)
    wire.fan.remove_effect(0, overtaking, 30)
    assert wire.out == [(30, 1)]  # its time had come before


@pytest.mark.slow
def test_effects_compose_and_one_leaves_the_draws_of_others_alone() -> None:
    """Two losses of one link lose 1 − (1−p)(1−q); taking one away leaves what the other loses."""
    both, alone = list[bool](), list[bool]()
    one, other = RandomLoss(0, luck("one"), 0.3), RandomLoss(1, luck("other"), 0.5)
    twin = RandomLoss(1, luck("other"), 0.5)
    hit = list[bool]()
    for now in range(MANY):
        mine = passage(now)
        hit.append(one.judge(mine) | other.judge(mine))
        both.append(mine.lost)
        theirs = passage(now)
        twin.judge(theirs)
        alone.append(theirs.lost)
    assert both == hit
    assert abs(np.mean(both) - 0.65) < OFF
    assert all(lost for lost, without in zip(both, alone, strict=True) if without)


def test_a_chance_is_exact() -> None:
    """A draw happens when its upper 53 bits are below p·2⁵³: to the last bit, whatever p."""
    for p in (0.1, 0.5, 0.99):
        edge = int(p * 2.0**53)
        for bits, wanted in ((edge - 1, True), (edge + 1, False)):
            drawn = np.array([bits << 11], dtype=np.uint64)
            assert happens(drawn, 0, p) is wanted


@pytest.mark.slow
def test_a_burst_ends_whether_or_not_its_message_is_lost() -> None:
    """Fate and turn are two draws: with a chance of 1/2 to be lost in a burst, lengths stay geometric and losses halve."""
    chain = BurstLoss(0, luck(), 0.2, 0.2, 0.0, 0.5)
    states, lost = [], []
    for now in range(100_000):
        one = passage(now)
        states.append(chain.in_burst)
        chain.judge(one)
        lost.append(one.lost)
    inside = np.array(lost)[np.array(states)]
    assert abs(inside.mean() - 0.5) < OFF
    assert abs(np.mean(states) - 0.5) < OFF
    turns = np.array(states)[1:] != np.array(states)[:-1]
    for fate in (False, True):  # whether a burst goes on does not depend on the fate of its message
        where = np.array(states)[:-1] & (np.array(lost)[:-1] == fate)
        assert abs(turns[where].mean() - 0.2) < OFF


def test_who_is_late_and_overtaken_arrives_when_both_have_passed() -> None:
    wire = Wire()
    late, overtaking = ExtraDelay(0, luck(), Constant(100e-9), 0.0), Reordering(0, luck(), 1.0)
    wire.fan.add_effect(0, late)
    wire.fan.add_effect(0, overtaking)
    assert wire.send(0, 1) == HELD  # due at 110
    late.latency, overtaking.p = Constant(0.0), 0.0
    wire.send(50, 2)
    assert wire.out == [(60, 2), (110, 1)]


def test_a_hold_lets_go_what_only_it_held() -> None:
    """Reordering goes on: what the hold kept leaves all the same."""
    wire = Wire()
    overtaking, hold = Reordering(0, luck(), 1.0), Hold(1)
    wire.fan.add_effect(0, overtaking)
    wire.fan.add_effect(0, hold)
    wire.send(0, 1)
    wire.fan.remove_effect(0, hold, 100)
    assert wire.out == [(110, 1)]
