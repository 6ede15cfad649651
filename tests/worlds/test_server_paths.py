"""A server's rounds leave the same whether clients act one by one or together, in whatever world.

`HUSH_PATHS=500 python -m pytest tests/worlds/test_server_paths.py` looks at more worlds.
"""

import asyncio
import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import pytest

from actors.events import FaultBegan, RoundAborted, RoundClosed, Woke
from mechanisms.federated import Client, JointAnswers
from mechanisms.masking import Seal
from mechanisms.objectives import (
    LocalObjective,
    Logistic,
    Loss,
    SmoothedHinge,
    Squared,
    StackedObjectives,
    Welsch,
)
from scenarios import check
from scenarios.api.runs import make_plan
from scenarios.experiments.random_worlds import KINDS, Dice, small_world
from scenarios.planning.mechanism import read_mechanism, record_of
from scenarios.planning.mechanism_tables import MechanismTable
from scenarios.planning.seeds import NoiseSource, generator, pads
from scenarios.running.control import RunGovernor
from scenarios.running.run import Run
from tests.support.builders import scenario
from tests.support.marks import one_in
from tests.worlds.test_paths import FAMILIES, Kept, differences, told

T = TypeVar("T")
WORLDS = int(os.environ.get("HUSH_PATHS", "60"))
SERVED = tuple(name for name, family in sorted(FAMILIES.items()) if family == "server")
ROUNDS = {"kind": "wddp", "synchronise": "every-round"}
CLOCKS: tuple[Any, ...] = ({"kind": "synchronous", "period": 1.0}, "barrier")


class ServedDice(Dice):
    """Draws worlds with a server, most of whose clients act at one instant."""

    def pick(self, options: Sequence[T]) -> T:
        chosen: Sequence[Any] = options
        if all(name in options for name in SERVED):
            chosen = SERVED
        elif any(isinstance(o, dict) and o.get("kind") == "barrier" for o in options):
            chosen = (*CLOCKS, CLOCKS[0], {"kind": "barrier", "timeout": 2.0}, "poisson")
        elif 1.5 in options and 0.2 in options:  # latencies
            chosen = (*options, 0.0, 0.0)
        return super().pick(chosen)  # type: ignore[no-any-return]


def world(number: int, seed: int = 29) -> dict[str, Any]:
    dice = ServedDice(seed, number)
    tree = small_world(dice)
    server = {"deadline": dice.pick((1.0, 2.5, 10.0)), "quorum": dice.pick((1.0, 0.5, 0.3))}
    sample = dice.pick((1.0, 1.0, 0.5))
    tree["server"] = tree.get("server", {}) | server | ({"sample": sample} if sample < 1 else {})
    tree["run"]["sample_every"] = dice.pick((0.5, 1.0, 7.0))
    return tree


def problems(tree: dict[str, Any]) -> bool:
    return bool(check(tree).problems)


@pytest.mark.parametrize("number", one_in(6, range(WORLDS)))
def test_clients_leave_the_same_together_and_one_by_one(tmp_path: Path, number: int) -> None:
    tree = world(number)
    if problems(tree):  # some kinds want every client in every round
        tree["server"] = {"deadline": tree["server"]["deadline"]}
    plan = make_plan(tree)
    detailed, together = told(plan, "events", tmp_path), told(plan, "auto", tmp_path)
    assert differences(detailed, together) == []
    assert detailed[1].rows == 0
    for one, other in zip(detailed[0].run.agents, together[0].run.agents, strict=True):
        assert (one.updates, one.rounds, one.spent) == (other.updates, other.rounds, other.spent)
        assert one.noise_stream.last == other.noise_stream.last
        assert other.noise_stream.reused is None


def test_rounds_begin_and_end_together_in_random_worlds(tmp_path: Path) -> None:
    """Among the worlds of the law above are rounds of both ways in one run, aborted ones, and faults."""
    mixed = aborted = faulty = 0
    for number in range(0, 24, 2):
        tree = world(number)
        if problems(tree):
            continue
        _, kept = told(make_plan(tree), "auto", tmp_path / str(number))
        wakes = sum(isinstance(event, Woke) for event in kept.events)
        mixed += 0 < kept.rows < wakes
        aborted += any(isinstance(event, RoundAborted) for event in kept.events)
        faulty += any(isinstance(event, FaultBegan) for event in kept.events)
    assert min(mixed, aborted, faulty) >= 1


def served(clock: Any, **changes: Any) -> dict[str, Any]:
    """Return a world of a server and six clients of 9 points."""
    nodes = {"count": 6, "clock": clock, "budget": {"epsilon": 4.0, "delta": 1e-5}}
    tree: dict[str, Any] = {
        "nodes": [nodes],
        "network": {"latency": 0.0, "loss": 0.0},
        "mechanism": ROUNDS,
        "run": {"seed": 3, "rounds": 8, "sample_every": 3.0},
    }
    return scenario(**(tree | changes))


@pytest.mark.parametrize("clock", CLOCKS, ids=["synchronous", "barrier"])
@pytest.mark.parametrize("noise", ["local", "aggregate", "none"])
def test_a_quiet_world_goes_together_but_for_its_end(
    tmp_path: Path, clock: Any, noise: str
) -> None:
    """Every wake is in a row but the last one of each client, which reads the last model."""
    tree = served(clock, mechanism=ROUNDS | {"noise": noise})
    if noise == "none":
        tree["nodes"][0].pop("budget")
    plan = make_plan(tree)
    detailed, together = told(plan, "events", tmp_path), told(plan, "auto", tmp_path)
    assert differences(detailed, together) == []
    wakes = sum(isinstance(event, Woke) for event in together[1].events)
    assert together[1].rows == wakes - 6 == 8 * 6
    closed = [event for event in together[1].events if isinstance(event, RoundClosed)]
    assert [event.survivors for event in closed] == [list(range(6))] * 8


@pytest.mark.parametrize(
    "fault",
    [
        {"at": 3.5, "for": 2.0, "crash": [2]},
        {"at": 2.5, "for": 3.0, "pause": [0]},
        {"at": 2.5, "for": 3.0, "leave": [5]},
    ],
    ids=["crash", "pause", "leave"],
)
def test_a_fault_in_the_middle_switches_and_switches_back(
    tmp_path: Path, fault: dict[str, Any]
) -> None:
    tree = served(CLOCKS[0], fault=[fault], server={"deadline": 1.5, "quorum": 0.5})
    plan = make_plan(tree)
    detailed, together = told(plan, "events", tmp_path), told(plan, "auto", tmp_path)
    assert differences(detailed, together) == []
    wakes = sum(isinstance(event, Woke) for event in together[1].events)
    assert 0 < together[1].rows < wakes


def test_a_fault_that_a_spent_budget_triggers_strikes_before_the_next_client(
    tmp_path: Path,
) -> None:
    fault = {"when": "kind == 'spent' and node == 2", "crash": [4]}
    plan = make_plan(served(CLOCKS[0], fault=[fault], server={"deadline": 1.5, "quorum": 0.5}))
    detailed, together = told(plan, "events", tmp_path), told(plan, "auto", tmp_path)
    assert differences(detailed, together) == []
    assert any(isinstance(event, FaultBegan) for event in together[1].events)


def test_who_listens_to_single_events_hears_them_all(tmp_path: Path) -> None:
    """Clients act one by one from the tick on at which somebody asks."""
    plan = make_plan(served(CLOCKS[0]))
    alone = told(plan, "events", tmp_path / "alone")
    run = Run(replace(plan, path="auto"), tmp_path / "heard", RunGovernor(), 1.0)
    kept, heard = Kept(), list[Any]()
    run.log.subscribe(kept)
    run.clock.at(4 * 10**9, 2, lambda: run.log.watch(heard.append, (Woke,)))
    asyncio.run(run.perform())
    assert kept.events == alone[1].events
    assert heard == [e for e in kept.events if isinstance(e, Woke) and e.t >= 4 * 10**9]
    assert 0 < kept.rows == 3 * 6


# what is computed together

LOSSES: list[Loss] = [Logistic(), SmoothedHinge(), Squared(), Squared(clip=1.5), Welsch()]


def objectives(loss: Loss, sizes: Sequence[int], d: int, l2: float) -> list[LocalObjective]:
    rng = generator(5, f"data/stack/{d}")
    made = []
    for m in sizes:
        x = rng.standard_normal((m, d))
        y = np.where(rng.random(m) < 0.5, 1.0, -1.0)
        made.append(LocalObjective(x, y, loss, l2))
    return made


@pytest.mark.parametrize("loss", LOSSES, ids=lambda loss: type(loss).__name__)
@pytest.mark.parametrize("sizes", [(7,) * 5, (1, 33, 8, 100, 2), (1, 1, 1)])
@pytest.mark.parametrize("d", [1, 3, 50])
@pytest.mark.parametrize("l2", [0.0, 0.3])
def test_gradients_together_are_the_gradients_of_each(
    loss: Loss, sizes: tuple[int, ...], d: int, l2: float
) -> None:
    each = objectives(loss, sizes, d, l2)
    theta = generator(6, "data/theta").standard_normal(d)
    expected = np.array([objective.gradient(theta) for objective in each])
    stack = StackedObjectives(each)
    assert (stack.gradients(theta) == expected).all()
    for chosen in ([1], [2, 0], [0, 1, 2]):
        assert (stack.gradients(theta, chosen) == expected[chosen]).all()


def test_what_is_hidden_together_is_what_each_hides_and_adds_up() -> None:
    seal = Seal(pads(3), 2.0**-30, 8)
    vectors = generator(8, "data/hidden").standard_normal((4, 6))
    vectors[2, 1] = 1e30  # its sum could wrap
    clients, releases = [0, 3, 5, 7], [2, 0, 1, 9]
    hidden = seal.hide_all(vectors, clients, releases)
    for row, vector, client, release in zip(hidden, vectors, clients, releases, strict=True):
        own = seal.hide(vector, client, release)
        assert (row[: len(own)] == own).all()
    kept = [0, 1, 3]
    total = seal.total(hidden[kept], [clients[i] for i in kept])
    assert total == pytest.approx(vectors[kept].sum(axis=0), abs=4 * 2.0**-30)


@pytest.mark.parametrize("name", SERVED)
def test_answers_together_are_the_answers_of_each(name: str) -> None:
    """Of every kind with a server: the vectors that `propose` and `finish` give, from the same noise."""
    table = read_mechanism(KINDS[name])
    pooled = isinstance(table, MechanismTable) and record_of(table).pooled
    count = 1 if pooled else 4
    nodes: dict[str, Any] = {"count": count, "budget": {"epsilon": 4.0, "delta": 1e-5}}
    tree = scenario(nodes=[nodes], mechanism=KINDS[name], run={"seed": 1, "rounds": 3})
    if problems(tree):
        nodes.pop("budget")
    clients = [node.mechanism for node in make_plan(tree).nodes]
    if not all(isinstance(client, Client) for client in clients):
        return  # perturbed records: these never act together
    theta = np.full(clients[0].objective.dimension, 0.1)  # type: ignore[attr-defined]
    first, second = NoiseSource(4).of_all(range(count)), NoiseSource(4).of_all(range(count))
    draws = zip(clients, first, strict=True)
    each = [c.propose(theta, None, 0).finish(draw(0))[1] for c, draw in draws]  # type: ignore[arg-type]
    joint = JointAnswers(clients)  # type: ignore[arg-type] # it was looked at
    assert (joint.vectors(theta, [0] * count, second) == np.array(each)).all()
    second = NoiseSource(4).of_all(range(count))
    some = joint.vectors(theta, [0], [second[-1]], [count - 1])
    assert (some == np.array(each)[[-1]]).all()
