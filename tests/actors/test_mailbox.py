"""Mailboxes and links: order, freshness, who was up, and verdicts that depend on nothing else."""

import asyncio
from functools import partial
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from actors.events import Delivered, Rejected, Superseded
from actors.links import LOST, Links, Policy
from actors.log import Log
from actors.mailbox import Mailbox
from actors.messages import Message
from clocks import durations
from clocks.clock import WAKE
from clocks.durations import Constant
from clocks.virtual import VirtualClock
from scenarios.planning.seeds import draws, keys
from scenarios.running.control import RunGovernor


class Listener:
    """Keeps every event."""

    def __init__(self) -> None:
        self.clock = VirtualClock()
        self.log = Log(self.clock)
        self.heard: list[Any] = []
        self.log.watch(self.heard.append)
        self.box = Mailbox(0, self.clock, self.log)

    def kinds(self) -> list[str]:
        return [type(event).__name__ for event in self.heard]


def message(sender: int, version: int, round_: int = 0) -> Message:
    return Message(sender, version, round_, np.array([float(version)]), 1)


def test_only_what_has_arrived_is_taken() -> None:
    at = Listener()
    at.box.post(10, 1, message(1, 0))
    at.box.post(20, 1, message(2, 0))
    at.box.settle(15)
    assert list(at.box.take()) == [1]
    assert at.box.take() == {}
    assert at.box.in_flight == 1


def test_the_newest_version_wins_whatever_arrives_last() -> None:
    at = Listener()
    at.box.post(10, 1, message(1, 5))
    at.box.post(12, 1, message(1, 3))
    at.box.post(14, 1, message(1, 6))
    at.box.settle(20)
    assert at.box.take()[1].version == 6
    assert at.kinds() == ["Delivered", "Delivered", "Superseded", "Delivered", "Superseded"]
    assert [e.version for e in at.heard if isinstance(e, Superseded)] == [3, 5]


def test_an_older_message_than_what_was_read_is_superseded() -> None:
    at = Listener()
    at.box.post(10, 1, message(1, 5))
    at.box.settle(10)
    at.box.take()
    at.box.post(20, 1, message(1, 4))
    at.box.settle(30)
    assert at.box.take() == {}


@given(
    st.lists(
        st.tuples(st.integers(1, 3), st.integers(0, 9), st.integers(0, 50)), min_size=1, max_size=40
    )
)
def test_every_message_is_delivered_once_and_read_or_superseded_once(
    posts: list[tuple[int, int, int]],
) -> None:
    at, read = Listener(), 0
    for sender, version, arrival in posts:
        at.box.post(arrival, 1, message(sender, version))
    for until in (10, 25, 50):
        at.box.settle(until)
        read += len(at.box.take())
    delivered = [e for e in at.heard if isinstance(e, Delivered)]
    superseded = [e for e in at.heard if isinstance(e, Superseded)]
    assert len(delivered) == len(posts)
    assert [e.arrived for e in delivered] == sorted(a for _, _, a in posts)
    assert len(superseded) + read == len(posts)


def test_messages_to_somebody_who_is_not_up_are_rejected() -> None:
    at = Listener()
    at.box.post(10, 7, message(1, 0))
    at.box.post(30, 7, message(1, 1))
    at.box.settle(20, up=False)
    at.box.settle(40)
    assert [(type(e), e.cause) for e in at.heard] == [(Rejected, 7), (Delivered, 7)]
    assert at.box.take()[1].version == 1


@pytest.mark.parametrize("up", [True, False])
def test_a_corrupt_message_is_rejected_by_its_field(*, up: bool) -> None:
    """Its event has the number of the event that sent it, and a reason; an intact one after it is delivered."""
    at = Listener()
    at.box.post(10, 7, replace(message(1, 0), corrupt=True))
    at.box.post(11, 8, message(1, 1))
    at.box.settle(10, up=up)
    at.box.settle(20)
    rejected, delivered = at.heard
    assert isinstance(rejected, Rejected)
    assert (rejected.cause, rejected.version, rejected.reason) == (7, 0, "corrupt")
    assert isinstance(delivered, Delivered)
    assert at.box.take()[1].version == 1


def test_later_rounds_are_held_back_for_a_barrier() -> None:
    at = Listener()
    at.box.accept_through(1)
    at.box.post(5, 1, message(1, 0, round_=1))
    at.box.post(6, 1, message(1, 1, round_=2))
    at.box.settle(10)
    assert at.box.has_round(1, 1)
    assert at.box.newest_round == 2
    assert at.box.take()[1].round == 1
    at.box.accept_through(2)
    assert at.box.take()[1].round == 2
    assert at.kinds() == ["Delivered", "Delivered"]


def test_somebody_who_waits_is_woken_by_the_first_arrival_or_the_deadline() -> None:
    at, seen = Listener(), list[int]()

    async def owner() -> None:
        await at.box.wait(None)
        seen.append(at.clock.now)
        at.box.settle(at.clock.now)
        await at.box.wait(100)
        seen.append(at.clock.now)

    at.clock.spawn(owner)
    at.clock.at(5, WAKE, lambda: at.box.post(40, 1, message(1, 0)))
    at.clock.at(6, WAKE, lambda: at.box.post(30, 1, message(2, 0)))
    at.clock.at(31, WAKE, lambda: at.box.settle(31))
    at.clock.at(32, WAKE, lambda: at.box.settle(40))
    asyncio.run(at.clock.run(None, RunGovernor()))
    assert seen[0] == 30
    assert seen[1] == 100


@pytest.mark.slow
@given(
    st.lists(st.integers(0, 60), max_size=5),
    st.lists(st.tuples(st.integers(20, 40), st.integers(0, 40)), max_size=5),
    st.one_of(st.none(), st.integers(20, 90)),
)
def test_an_owner_who_waits_is_woken_at_the_first_arrival_or_the_deadline(
    before: list[int], during: list[tuple[int, int]], deadline: int | None
) -> None:
    """Messages on their way at 20, when it begins to wait, count as much as those that are sent while it waits.

    What has arrived before 20 and was not settled wakes it at once. Nothing to come, and no deadline: it sleeps on.
    """
    at, woken = Listener(), list[int]()

    async def owner() -> None:
        await at.clock.sleep_until(20, WAKE)
        await at.box.wait(deadline)
        woken.append(at.clock.now)

    for version, arrival in enumerate(before):
        at.box.post(arrival, 1, message(1, version))
    at.clock.spawn(owner)
    for version, (sent, takes) in enumerate(during):
        post = partial(at.box.post, sent + takes, 1, message(2, version))
        at.clock.at(sent, WAKE + 1, post)
    asyncio.run(at.clock.run(200, RunGovernor()))
    arrivals = [max(20, arrival) for arrival in before] + [sent + takes for sent, takes in during]
    due = arrivals if deadline is None else [*arrivals, deadline]
    assert woken == ([min(due)] if due else [])


def fan(policies: list[Policy], *, names: str = "abc") -> Links:
    paths = [f"link/{name}" for name in names[: len(policies)]]
    return Links(range(len(policies)), policies, keys(9, paths), [])


LATE = Policy(durations.exponential(0.1), 0.0)
LOSSY = Policy(durations.exponential(0.1), 0.3)


def test_a_verdict_is_a_function_of_link_and_version() -> None:
    forwards, jumping = fan([LATE, LOSSY]), fan([LATE, LOSSY])
    in_order = {v: forwards.verdicts(v) for v in range(100)}
    assert all(jumping.verdicts(v) == in_order[v] for v in (77, 3, 64, 5, 99))


@pytest.mark.parametrize("width", [1, 3, 65])
def test_a_verdict_follows_from_two_draws_of_its_link(width: int) -> None:
    """Version v of a link takes draws 2v and 2v + 1 of its stream, in whichever block it was drawn."""
    paths = [f"link/{j}" for j in range(width)]
    links = Links(range(width), LOSSY, keys(9, paths), [])
    for version in (0, 7, 8, 9, 15, 16, 31, 40, 100, 3):
        bits = [draws(9, path)(2 * version, 2) for path in paths]
        fates = [int(two[0]) >> 11 for two in bits]
        delays = [int(LOSSY.latency.draw(two[1:], version)[0]) for two in bits]
        told = [LOST if f < 0.3 * 2**53 else d for f, d in zip(fates, delays, strict=True)]
        assert links.verdicts(version) == told
        assert links.verdict_row(version).tolist() == told


def test_one_policy_for_all_links_is_the_same_as_one_for_each() -> None:
    alone, each = Links(range(3), LOSSY, keys(9, "abc"), []), fan([LOSSY] * 3, names="xyz")
    each.keys = alone.keys
    assert [alone.verdicts(v) for v in range(40)] == [each.verdicts(v) for v in range(40)]
    assert [alone.policy_of(s) for s in range(3)] == [each.policy_of(s) for s in range(3)]


def test_another_link_changes_nothing_for_the_first() -> None:
    one, two = fan([LATE]), fan([LATE, LATE])
    assert [one.verdicts(v)[0] for v in range(50)] == [two.verdicts(v)[0] for v in range(50)]


def test_more_loss_moves_no_delay_and_loses_no_less() -> None:
    lossy, lossier = fan([LOSSY]), fan([Policy(LOSSY.latency, 0.6)])
    calm = fan([LATE])
    for v in range(500):
        base, some, more = calm.verdicts(v)[0], lossy.verdicts(v)[0], lossier.verdicts(v)[0]
        assert some in {base, LOST}
        assert more in {base, LOST}
        assert (some == LOST) <= (more == LOST)


def test_resends_leave_the_verdicts_of_broadcasts_alone() -> None:
    calm, nagging = fan([LOSSY, LATE]), fan([LOSSY, LATE])
    for v in range(40):
        nagging.resend_verdict(v % 2)
        assert nagging.verdicts(v) == calm.verdicts(v)


def test_each_resend_has_draws_of_its_own() -> None:
    """Resend n of a link is a function of the link and n: the first differs from the second, and slots do not meet."""
    one, other = fan([LATE, LATE]), fan([LATE, LATE])
    in_turn = [one.resend_verdict(n % 2) for n in range(200)]
    assert len(set(in_turn)) == len(in_turn)
    assert [other.resend_verdict(0) for _ in range(100)] == in_turn[::2]
    assert [other.resend_verdict(1) for _ in range(100)] == in_turn[1::2]
    assert not set(in_turn) & {delay for v in range(200) for delay in one.verdicts(v)}


def test_a_hub_draws_resends_as_others_do() -> None:
    """How many links an agent has decides what is drawn together, and changes no draw."""
    names = "".join(map(chr, range(97, 97 + 70)))
    narrow, hub = fan([LATE, LOSSY], names=names), fan([LATE, LOSSY] * 35, names=names)
    slots = [0, 1, 1, 0, 1, 1, 1, 1, 1, 0] * 3  # one is far ahead of the other
    assert [hub.resend_verdict(n) for n in slots] == [narrow.resend_verdict(n) for n in slots]


def test_resends_are_lost_one_by_one() -> None:
    link, n = fan([LOSSY]), 4000
    lost = sum(link.resend_verdict(0) == LOST for _ in range(n))
    assert abs(lost - n * 0.3) <= 5 * (n * 0.3 * 0.7) ** 0.5


def test_whether_a_message_is_lost_says_nothing_of_how_long_it_takes() -> None:
    """Of messages that would be slow as many are lost as of those that would be fast: fate and delay are two draws."""
    calm, lossy, n = fan([LATE]), fan([LOSSY]), 4000
    delays = np.array([calm.verdicts(v)[0] for v in range(n)])
    lost = np.array([lossy.verdicts(v)[0] == LOST for v in range(n)])
    slow = delays > np.median(delays)
    gap = int(lost[slow].sum()) - int(lost[~slow].sum())
    assert abs(gap) <= 5 * (n * 0.3 * 0.7) ** 0.5


@pytest.mark.parametrize("loss", [0.0, 0.05, 0.5, 1.0])
def test_loss_has_its_rate(loss: float) -> None:
    link, n = fan([Policy(Constant(0.0), loss)]), 20_000
    lost = sum(link.verdicts(v)[0] == LOST for v in range(n))
    assert abs(lost - n * loss) <= 5 * (n * loss * (1 - loss)) ** 0.5


def test_each_link_follows_its_own_policy() -> None:
    mixed = fan([Policy(Constant(1.0)), Policy(Constant(2.0)), Policy(Constant(0.0), 1.0)])
    assert mixed.verdicts(17) == [10**9, 2 * 10**9, LOST]
