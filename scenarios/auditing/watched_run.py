"""One simulation of a plan for an auditor that knows all records but one: nothing is written."""

from collections.abc import Callable, Mapping
from copy import deepcopy
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any

import numpy as np

from actors.agent import Agent, StepWatcher
from actors.events import RoundClosed
from clocks.virtual import VirtualClock
from mechanisms.accounting.spend import Spend
from mechanisms.federated import Client, Coordinator
from mechanisms.noise import LAWS
from mechanisms.strategy import Mechanism
from mechanisms.vectors import Vector
from mechanisms.witness import Onlooker, Witness
from scenarios.language.json_numbers import declared_by
from scenarios.planning.plan import Plan
from scenarios.planning.seeds import generator
from scenarios.running.simulation import Simulation

Pair = tuple[Mechanism, Mechanism]
"""The watched agent's mechanism on D, and on D′."""
_SEEDS = 1 << 62


@dataclass(frozen=True, slots=True)
class Seen:
    """What an adversary observes in one run: the loss of each release of the watched agent, and the final models."""

    losses: tuple[float, ...]
    hints: dict[str, float]
    models: Vector
    spends: tuple[Spend, ...]
    exact: bool = True
    """Whether the losses are privacy losses, not an approximation of them."""
    sent: tuple[Vector, ...] = ()
    """What code of a scenario's own sent, of which no density is known; empty for the kinds of hush."""


class Sums:
    """The losses that the server's models show of one client, where answers are added up in secret."""

    def __init__(self, clients: tuple[Client, ...], node: int, pair: tuple[Client, Client]) -> None:
        self._clients = clients
        self._node = node
        self._pair = pair
        self._theta: Vector | None = None
        self.losses: list[float] = []

    def watch(self, server: Agent) -> Callable[[RoundClosed], None]:
        """Return what looks at the server after each round."""
        self._theta = server.model

        def look(event: RoundClosed) -> None:
            if self._node in event.survivors:
                self.losses.append(self._loss(server, list(event.survivors)))
            self._theta = server.model

        return look

    def _loss(self, server: Agent, survivors: list[int]) -> float:
        coordinator, theta = server.mechanism, self._theta
        assert isinstance(coordinator, Coordinator), "servers coordinate"  # noqa: S101
        assert theta is not None, "watched before"  # noqa: S101
        weights, rate = coordinator.weights[survivors], coordinator.learning_rate
        seen = server.model if rate is None else (theta - server.model) / rate
        others = [j for j in survivors if j != self._node]
        rest = sum((coordinator.weights[j] * self._clients[j].plain(theta) for j in others), 0.0)
        densities = []
        for client in self._pair:
            mean = (rest + coordinator.weights[self._node] * client.plain(theta)) / weights.sum()
            densities.append(self._log_density(coordinator, seen - mean, survivors))
        return densities[0] - densities[1]

    @staticmethod
    def _log_density(coordinator: Coordinator, noise: Vector, survivors: list[int]) -> float:
        if coordinator.central is not None:
            smallest = min(coordinator.sizes[j] for j in survivors)
            scale = coordinator.central.scale(len(survivors), smallest)
            return coordinator.central.law.log_density(noise, scale)
        assert coordinator.shares is not None, "sealed noise is the clients' own"  # noqa: S101
        deviation = float(np.sqrt(coordinator.shares[survivors].sum()))
        whole = noise * float(coordinator.weights[survivors].sum())
        return LAWS["gaussian"].log_density(whole, deviation)


def perform(plan: Plan, watchers: Mapping[int, StepWatcher] = MappingProxyType({})) -> Simulation:
    """Run a plan to its end while some agents are watched, and return the simulation as it is then."""
    simulation = Simulation(plan, VirtualClock())
    for node, watch in watchers.items():
        simulation.agents[node].watch_steps(watch)
    simulation.complete()
    return simulation


def renoised(plan: Plan, name: str, mechanisms: dict[int, Any] | None = None) -> Plan:
    """Return the plan with noise of its own by name, and with other mechanisms for some."""
    nodes = tuple(
        replace(node, mechanism=(mechanisms or {}).get(node.id, node.mechanism))
        for node in plan.nodes
    )
    noise = int(generator(plan.seed, name).integers(_SEEDS))
    return replace(plan, nodes=nodes, seeds=plan.seeds | {"noise": noise})


def observe(plan: Plan, node: int, pair: Pair, name: str) -> Seen:
    """Run a plan with fresh noise and everything else as it is, and return what was seen of one agent."""
    if declared_by(plan.kind) is not None:
        return _observe_own_code(plan, node, name)
    witness, sums = Witness(plan.nodes[node].mechanism, *pair), _sums(plan, node, pair)
    simulation = Simulation(renoised(plan, name), VirtualClock())
    simulation.agents[node].watch_steps(witness.watch)
    if sums is not None:
        assert simulation.server is not None, "sealed answers have a server"  # noqa: S101
        simulation.log.watch(sums.watch(simulation.server), (RoundClosed,))
    simulation.complete()
    return Seen(
        tuple(witness.losses if sums is None else sums.losses),
        {} if sums is not None else witness.hints,
        _shown(simulation, node),
        simulation.agents[node].store.ledger.spends,
        witness.exact,
    )


def _shown(simulation: Simulation, node: int) -> Vector:
    """Return the final models that an outsider sees.

    Where steps are hidden behind the last model of a server, that is the only one. Its client, which holds the data, may
    have missed the last word, and two models in a row show a step.
    """
    agents = simulation.members.agents
    hidden = any(spend.hidden is not None for spend in agents[node].store.ledger.spends)
    return np.concatenate([agent.model for agent in (agents[-1:] if hidden else agents)])


def _observe_own_code(plan: Plan, node: int, name: str) -> Seen:
    """Observe code of a scenario's own as a black box. A run has copies: what the code remembers ends with its run."""
    own = {each.id: deepcopy(each.mechanism) for each in plan.nodes}
    onlooker = Onlooker()
    simulation = perform(renoised(plan, name, own), {node: onlooker.watch})
    spends = simulation.agents[node].store.ledger.spends
    return Seen((), {}, _shown(simulation, node), spends, exact=False, sent=tuple(onlooker.sent))


def _sums(plan: Plan, node: int, pair: Pair) -> Sums | None:
    """Watch the server where answers are sealed."""
    one, other = pair
    if not isinstance(one, Client) or not isinstance(other, Client) or one.seal is None:
        return None
    mechanisms = [n.mechanism for n in plan.nodes]
    mechanisms[node] = one
    return Sums(tuple(m for m in mechanisms if isinstance(m, Client)), node, (one, other))
