"""Every invariant has a mutant that must trip it: a true run's events, with one thing wrong."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from actors.agent import Agent
from actors.events import (
    Charged,
    Crashed,
    Delivered,
    FaultBegan,
    FaultEnded,
    Lost,
    Released,
    Restarted,
    Sent,
    Woke,
)
from actors.turns import (
    BITS,
    HEAD,
    NOTHING,
    RELEASED,
    SENT_,
    SPEND,
    TAKEN,
    TOUCHED,
    WOKE,
    K,
    Row,
    T,
    head_word,
)
from clocks.activation import Barrier
from mechanisms.accounting.ledger import Ledger
from mechanisms.noise import LAWS, NoiseStream
from scenarios.api.runs import make_plan
from scenarios.running.control import RunGovernor
from scenarios.running.observers.invariants import INVARIANTS, InvariantBroken
from scenarios.running.run import Run
from tests.support.builders import perform, private

Mutant = Callable[[Run], None]


def run(tmp_path: Path, **sections: Any) -> Run:
    fault = {"fault": [{"at": 2.0, "for": 2.0, "crash": [0]}]}
    return Run(make_plan(private(**(fault | sections))), tmp_path / "run", RunGovernor(), 1.0)


def emit(kind: Any, node: int | None, cause: int | None, *fields: Any) -> Mutant:
    def mutate(made: Run) -> None:
        made.log.emit(kind, node, cause, *fields)

    return mutate


def charge(made: Run, node: int = 0) -> int:
    spend = (
        made.agents[node]
        .mechanism.propose(  # a true spend, charged as the agent does
            made.agents[node].state, made.agents[node].heard, 0
        )
        .spend
    )
    assert spend is not None
    k = made.agents[node].store.ledger.charge(spend)
    return made.log.emit(Charged, node, 1, k, 0.5, spend)


def uncharged_release(made: Run) -> None:
    made.log.emit(Released, 0, 1, 0)


def released_twice(made: Run) -> None:
    paid = charge(made)
    made.log.emit(Released, 0, paid, 0)
    made.log.emit(Released, 0, paid, 0)


def charged_twice(made: Run) -> None:
    charge(made)
    made.log.emit(Charged, 0, 1, 0, 0.5, made.agents[0].store.ledger.at(0))


def raw_gradient(made: Run) -> None:
    made.log.emit(Sent, 0, 1, 0, [1], [5], 24)


def sent_twice(made: Run) -> None:
    released = made.log.emit(Released, 0, charge(made), 0)
    made.log.emit(Sent, 0, released, 0, [1], [5], 24)
    made.log.emit(Sent, 0, released, 1, [1], [5], 24)


def resent_the_unsent(made: Run) -> None:
    made.log.emit(Sent, 0, 1, 7, [1], [5], 24, True)


def resent_before_it_was_sent(made: Run) -> None:
    """The bits are those that were published, but their version was never sent: number 0 was the last."""
    store, outbox = made.agents[0].store, made.agents[0].outbox
    released = made.log.emit(Released, 0, charge(made), 0)
    store.published = outbox.outgoing = np.zeros(3)
    made.log.emit(Sent, 0, released, 0, [1], [5], 24)
    made.log.emit(Sent, 0, 1, 0, [1], [5], 24, True)
    made.log.emit(Sent, 0, 1, 1, [1], [5], 24, True)


def test_a_release_that_nobody_was_there_for_may_be_sent_to_one_who_joins(tmp_path: Path) -> None:
    """It was charged and published while the agent was alone; a neighbour that joins gets the bits."""
    made = run(tmp_path)
    store, outbox = made.agents[0].store, made.agents[0].outbox
    made.log.emit(Released, 0, charge(made), 0)
    store.published = outbox.outgoing = np.zeros(3)
    made.log.emit(Sent, 0, 1, 0, [1], [5], 24, True)
    made.log.drain()
    made.log.emit(Sent, 0, 1, 1, [1], [5], 24, True)
    with pytest.raises(InvariantBroken, match="only releases"):
        made.log.drain()


def resent_other_bits(made: Run) -> None:
    """A version that was sent, with bits that were never published."""
    store, outbox = made.agents[0].store, made.agents[0].outbox
    released = made.log.emit(Released, 0, charge(made), 0)
    outbox.outgoing = np.zeros(3)
    store.publish(outbox.outgoing, 0)
    made.log.emit(Sent, 0, released, 0, [1], [5], 24)
    outbox.outgoing = np.zeros(3)
    made.log.emit(Sent, 0, 1, 0, [1], [5], 24, True)


def crashed(made: Run, *, at: int = 2) -> int:
    """Crash agent 0 as its scenario declares it, for two seconds."""
    made.clock.now = at * 10**9  # type: ignore[misc]
    began = made.log.emit(FaultBegan, None, None, 0, "crash", [0], (at + 2) * 10**9)
    made.log.emit(Crashed, 0, began, "volatile")
    return began


def forgetful_ledger(made: Run) -> None:
    charge(made)
    began = crashed(made)
    made.log.emit(Restarted, 0, began, 0)


def late_fault(made: Run) -> None:
    crashed(made, at=3)


def never_ending_fault(made: Run) -> None:
    began = crashed(made)
    made.clock.now = 5 * 10**9  # type: ignore[misc]
    made.log.emit(FaultEnded, None, began, 0, "restart", [0])


def a_heal_that_forgets_a_link(made: Run) -> None:
    made.log.emit(Lost, 0, 1, 1, 0, [0])


def sent_by_a_fault_that_is_over(made: Run) -> None:
    released = made.log.emit(Released, 0, charge(made), 0)
    made.log.emit(Sent, 0, released, 0, [1], [5], 0, False, [0])


def leaked(made: Run) -> None:
    released = made.log.emit(Released, 0, charge(made), 0)
    made.agents[0].store.publish(np.zeros(3), 0)
    made.agents[0].outbox.outgoing = np.ones(3)
    made.log.emit(Sent, 0, released, 0, [1], [5], 24)


def noise_of_old(made: Run) -> None:
    made.agents[0].noise(0)
    made.agents[0].noise(0)
    made.observers.sample()


def noise_of_old_in_a_release(made: Run) -> None:
    """It is found before the release is sent: no sample is needed."""
    made.agents[0].noise(0)
    made.agents[0].noise(0)
    made.log.emit(Released, 0, charge(made), 0)


def noise_of_another_scale(made: Run) -> None:
    """The noise of a release is drawn with a scale that is 1 ‰ off."""
    agent: Any = made.agents[0]
    spend = agent.mechanism.propose(agent.state, agent.heard, 0).spend
    LAWS[spend.law].draw(agent.noise(0), 1.001 * spend.scale, 3)
    agent.noise_stream.compare(spend)
    made.observers.sample()


def noise_left_out(made: Run) -> None:
    """A release is told whose noise was never drawn: found at the next sample."""
    agent: Any = made.agents[0]
    agent.noise(0)
    agent.noise_stream.compare(agent.mechanism.propose(agent.state, agent.heard, 0).spend)
    made.log.emit(Released, 0, charge(made), 0)
    made.observers.sample()


def sleepwalker(made: Run) -> None:
    faults = made.observers.checks.faults
    faults.paused.add(0)
    faults._history.note(0, 0, up=True, paused=True, since=0)
    made.log.emit(Woke, 0, None)


def dead_man_walking(made: Run) -> None:
    crashed(made)
    made.log.emit(Woke, 0, None)


def delivered_to_the_dead(made: Run) -> None:
    crashed(made)
    made.log.emit(Delivered, 0, 1, 2, 0, 0)


def delivered_to_a_former_life(made: Run) -> None:
    """It arrives at 3 s, while the agent is down, and is noticed at 5 s, when it is up again."""
    began = crashed(made)
    made.clock.now = 4 * 10**9  # type: ignore[misc]
    ended = made.log.emit(FaultEnded, None, began, 0, "restart", [0])
    made.log.emit(Restarted, 0, ended, 0)
    made.clock.now = 5 * 10**9  # type: ignore[misc]
    made.log.emit(Delivered, 0, 1, 2, 0, 4 * 10**9)
    made.log.emit(Delivered, 0, 1, 2, 0, 3 * 10**9)


def lost_count(made: Run) -> None:
    released = made.log.emit(Released, 0, charge(made), 0)
    made.log.emit(Sent, 0, released, 0, [1], [5], 24)
    made.observers.sample()


def silent_nan(made: Run) -> None:
    made.agents[0].state = np.full(3, np.nan)
    made.observers.sample()


def cheaper_ledger(made: Run) -> None:
    """A release is charged and told; then the agent's ledger holds a cheaper one in its place."""
    charge(made)
    made.observers.sample()
    charge(made)
    tampered = Ledger()
    spends = made.agents[0].store.ledger.spends
    for spend in (spends[0], replace(spends[1], charged=spends[1].charged / 2)):
        tampered.charge(spend)
    made.agents[0].store.ledger = tampered
    made.observers.sample()


def shorter_ledger(made: Run) -> None:
    """The last release of an agent is taken out of its ledger."""
    charge(made)
    made.agents[0].store.ledger = Ledger()
    made.observers.sample()


def over_the_cap(made: Run) -> None:
    for _ in range(9):
        charge(made)
    made.observers.sample()


def time_falls(made: Run) -> None:
    made.log.emit(Woke, 0, None)
    made.observers.checks._now = 10
    made.log.emit(Woke, 1, None)


def half_the_sensitivity(made: Run) -> None:
    sensitivity_of(made.agents[0], 1e-6)
    made.observers.sample()


def one_per_cent_less_than_a_gradient(made: Run) -> None:
    agent: Any = made.agents[0]
    longest, bound = agent.mechanism.longest_gradient(agent.model)
    sensitivity_of(agent, agent.mechanism.spends[0].sensitivity * longest / bound / 1.01)
    made.observers.sample()


def sensitivity_of(agent: Any, sensitivity: float) -> None:
    spend = replace(agent.mechanism.spends[0], sensitivity=sensitivity)
    agent.mechanism = replace(agent.mechanism, spends=(spend,))


# rows: what most agents tell of a wake


def turn(
    made: Run, flags: int = WOKE | RELEASED | SENT_, settled: Row | None = None, **words: int
) -> None:
    """Let agent 0 tell in one row that it woke, released and sent to agent 1, truly but for some words of the row."""
    agent, spends, row = made.agents[0], made.log.spends, [*(settled or [])]
    if flags & RELEASED:
        charge_only(made)
    if flags & SENT_:
        agent.store.publish(np.zeros(3), 0)
        agent.outbox.outgoing = agent.store.published
        row += [1, made.clock.now + 5]
        row += [0] if flags & TOUCHED else []
    k = len(agent.store.ledger) - 1
    head = [
        *(head_word(flags, HEAD + len(row)), made.log.seq + 1, made.clock.now, 0, 0),
        len(settled or []) // 3 << BITS,
        k if flags & RELEASED else NOTHING,
        spends.place(agent.store.ledger.at(k)) if flags & RELEASED else NOTHING,
        agent.store.version - 1 if flags & SENT_ else NOTHING,
        1 | 3 << 2 * BITS if flags & SENT_ else 0,
        0,
    ]
    for place, word in words.items():
        head[{"t": T, "k": K, "spend": SPEND}[place]] = word
    events = len(settled or []) // 3 + bool(flags & WOKE)
    events += 3 * bool(flags & RELEASED) + bool(flags & SENT_)
    made.log.add_turn([*head, *row], events)


def charge_only(made: Run) -> None:
    agent = made.agents[0]
    spend = agent.mechanism.propose(agent.state, agent.heard, 0).spend
    assert spend is not None
    agent.store.ledger.charge(spend)


def test_true_rows_pass(tmp_path: Path) -> None:
    made = run(tmp_path)
    for _ in range(3):
        turn(made)
        made.log.drain()
    turn(made)
    turn(made, settled=[0, 1, 1 << 34 | TAKEN])
    made.log.drain()
    assert made.observers.checks.released_count == 5


def row_beyond_the_next_release(made: Run) -> None:
    turn(made)
    turn(made, k=2)


def row_of_a_release_twice(made: Run) -> None:
    turn(made)
    turn(made, k=0)


def row_that_no_ledger_has(made: Run) -> None:
    turn(made)
    turn(made)
    made.agents[0].store.ledger = Ledger()
    charge_only(made)


def row_without_a_spend(made: Run) -> None:
    turn(made, spend=NOTHING)


def row_of_old_noise(made: Run) -> None:
    made.agents[0].noise(0)
    made.agents[0].noise(0)
    turn(made)


def row_of_the_dead(made: Run) -> None:
    crashed(made)
    turn(made, WOKE)


def row_settled_by_the_dead(made: Run) -> None:
    crashed(made)
    turn(made, 0, [2 * 10**9, 1, 1 << 34 | TAKEN])


def row_settled_too_early(made: Run) -> None:
    turn(made, WOKE, [made.clock.now + 1, 1, 1 << 34 | TAKEN])


def row_of_what_was_not_released(made: Run) -> None:
    turn(made, WOKE | SENT_)


def row_of_what_was_not_published(made: Run) -> None:
    turn(made)
    made.agents[0].outbox.outgoing = np.ones(3)


def row_that_a_fault_of_later_touched(made: Run) -> None:
    turn(made, WOKE | RELEASED | SENT_ | TOUCHED)


def rows_whose_time_falls(made: Run) -> None:
    turn(made, WOKE, t=10)
    turn(made, WOKE, t=9)


MUTANTS: list[tuple[str, Mutant]] = [
    ("charged once", row_beyond_the_next_release),
    ("charged once", row_of_a_release_twice),
    ("charged once", row_that_no_ledger_has),
    ("charged before sent", row_without_a_spend),
    ("noise once", row_of_old_noise),
    ("silence", row_of_the_dead),
    ("silence", row_settled_by_the_dead),
    ("time", row_settled_too_early),
    ("only releases", row_of_what_was_not_released),
    ("only releases", row_of_what_was_not_published),
    ("declared faults", row_that_a_fault_of_later_touched),
    ("time", rows_whose_time_falls),
    ("charged before sent", uncharged_release),
    ("charged before sent", released_twice),
    ("charged once", charged_twice),
    ("charged once", cheaper_ledger),
    ("charged once", shorter_ledger),
    ("only releases", raw_gradient),
    ("only releases", sent_twice),
    ("only releases", resent_the_unsent),
    ("only releases", resent_before_it_was_sent),
    ("only releases", resent_other_bits),
    ("only releases", leaked),
    ("noise once", noise_of_old),
    ("noise once", noise_of_old_in_a_release),
    ("noise as charged", noise_of_another_scale),
    ("noise as charged", noise_left_out),
    ("ledger survives", forgetful_ledger),
    ("declared faults", late_fault),
    ("declared faults", never_ending_fault),
    ("declared faults", a_heal_that_forgets_a_link),
    ("declared faults", sent_by_a_fault_that_is_over),
    ("silence", sleepwalker),
    ("declared faults", emit(Crashed, 0, 1, "volatile")),
    ("declared faults", emit(FaultBegan, None, None, 0, "crash", [0])),
    ("silence", dead_man_walking),
    ("silence", delivered_to_the_dead),
    ("silence", delivered_to_a_former_life),
    ("time", emit(Delivered, 0, 1, 2, 0, 99)),
    ("time", time_falls),
    ("conservation", lost_count),
    ("finite", silent_nan),
    ("budget", over_the_cap),
    ("sensitivity", half_the_sensitivity),
    ("sensitivity", one_per_cent_less_than_a_gradient),
]


def looked_at(made: Run, mutant: Mutant) -> None:
    """Let a mutant do what it does, and let observers look at what it told."""
    mutant(made)
    made.log.drain()


@pytest.mark.parametrize(("invariant", "mutant"), MUTANTS)
def test_a_mutant_trips_its_invariant(tmp_path: Path, invariant: str, mutant: Mutant) -> None:
    made = run(tmp_path)
    with pytest.raises(InvariantBroken, match=f"^{invariant}: "):
        looked_at(made, mutant)
    assert made.observers.checks.verdicts[invariant].verdict == "fail"


def test_a_ledger_that_forgets_in_a_crash_is_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A whole run with a planted fault: the crash takes the ledger with it. The run ends with 3."""
    lose_memory = Agent.lose_memory

    def forget_all(agent: Agent, *, everything: bool) -> None:
        lose_memory(agent, everything=everything)
        agent.store.ledger = Ledger()

    monkeypatch.setattr(Agent, "lose_memory", forget_all)
    ran = perform(private(fault=[{"at": 5.0, "for": 2.0, "crash": [0]}]), tmp_path)
    assert ran.outcome.code == 3
    assert ran.result.status == "failed"
    assert "ledger survives" in ran.outcome.message
    assert ran.events("violated")[0]["invariant"] == "ledger survives"


def test_a_barrier_that_nothing_opens_is_found(tmp_path: Path) -> None:
    nodes = [{"count": 6, "clock": "barrier", "budget": {"epsilon": 4.0}}]
    made = run(tmp_path, nodes=nodes, run={"seed": 1, "rounds": 5}, fault=[])
    for agent in made.agents:
        agent.status = "up"
        assert isinstance(agent.settings.activation, Barrier)
    with pytest.raises(InvariantBroken, match="nobody waits for ever"):
        made.observers.checks.finish(complete=True)


def test_a_ledger_tampered_with_before_the_last_sample_is_found_at_the_end(tmp_path: Path) -> None:
    """Samples compare what is new; the end compares everything."""
    made = run(tmp_path)
    charge(made)
    made.observers.sample()
    tampered = Ledger()
    tampered.charge(replace(made.agents[0].store.ledger.at(0), charged=0.1))
    made.agents[0].store.ledger = tampered
    made.observers.sample()
    with pytest.raises(InvariantBroken, match=r"^charged once: "):
        made.observers.checks.finish(complete=True)


def test_observers_leave_the_noise_of_agents_alone(tmp_path: Path) -> None:
    """The noise of an agent comes from its own stream in a run that is checked, as in one that is not."""
    agent = run(tmp_path).agents[0]
    assert isinstance(agent.noise, NoiseStream)
    assert agent.noise is agent.noise_stream
    agent.noise(3)
    assert (agent.noise_stream.last, agent.noise_stream.reused) == (3, None)
    agent.noise(2)
    agent.noise(3)
    assert agent.noise_stream.reused == (2, 3)


def test_every_invariant_has_a_mutant() -> None:
    tripped = {invariant for invariant, _ in MUTANTS} | {"ledger survives", "nobody waits for ever"}
    assert tripped == set(INVARIANTS)


def test_a_true_run_passes_them_all(tmp_path: Path) -> None:
    ran = perform(private(fault=[{"at": 5.0, "for": 2.0, "crash": [0]}]), tmp_path)
    assert {v["verdict"] for v in ran.outcome.summary["invariants"].values()} == {"pass"}


def test_divergence_is_declared_and_the_agent_goes_quiet(tmp_path: Path) -> None:
    """A step that is far too long: the model explodes, is declared, and is never sent."""
    mechanism = {"kind": "cd", "mu": 1.0, "noise": "gaussian", "releases": 3, "smoothness": 1e-12}
    nodes = [{"count": 6, "budget": {"epsilon": 1e-12, "delta": 1e-100}}]
    ran = perform(private(mechanism=mechanism, nodes=nodes), tmp_path)
    assert ran.outcome.code == 0
    diverged = {e["node"]: e["seq"] for e in ran.events("diverged")}
    for event in ran.events("sent"):
        assert event["seq"] < diverged.get(event["node"], 10**9)
