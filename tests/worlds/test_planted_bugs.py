"""Bugs planted in hush itself: each is caught by an invariant, shrunk to a small file, and that file fails alone."""

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest

from actors.agent import Agent
from actors.faults.context import FaultContext, Link, Undo
from actors.faults.link_effects import LinkEffect
from actors.links import Links
from actors.mailbox import Mailbox
from actors.membership import Membership
from mechanisms.accounting.ledger import Ledger
from scenarios.experiments.scenario_tests import Case, Verdict, attempt
from scenarios.experiments.shrink import shrink, size
from scenarios.language.writer import to_toml
from tests.support.builders import private

Plant = Callable[[pytest.MonkeyPatch], None]


def dropped_charge(patch: pytest.MonkeyPatch) -> None:
    """After a restart the ledger begins anew."""
    restart = Membership.restart

    def forgetful(members: Membership, node: int, cause: int) -> bool:
        members.agents[node].store.ledger = Ledger()
        return restart(members, node, cause)

    patch.setattr(Membership, "restart", forgetful)


def delivered_to_the_dead(patch: pytest.MonkeyPatch) -> None:
    settle = Mailbox.settle
    patch.setattr(Mailbox, "settle", lambda box, until, up=True: settle(box, until, up=True))  # noqa: ARG005


def heals_one_direction(patch: pytest.MonkeyPatch) -> None:
    def lay(
        context: FaultContext, links: Iterable[Link], make: Callable[[Link], LinkEffect]
    ) -> Undo:
        kept = dict[Link, tuple[Links, int, LinkEffect]]()
        for i, j in links:
            fan = context.members.agents[i].outbox.links
            slot, effect = context.members.agents[i].slots[j], make((i, j))
            fan.add_effect(slot, effect)
            kept[i, j] = fan, slot, effect
        laid = [one for (i, j), one in kept.items() if i < j]

        def undo(_: int) -> None:
            for fan, slot, effect in laid:
                fan.remove_effect(slot, effect, context.clock.now)

        return undo

    patch.setattr(FaultContext, "lay", lay)


def noise_of_the_former_life(patch: pytest.MonkeyPatch) -> None:
    """Who comes back draws the noise of the release before the one it makes."""
    join = Membership.join

    def rejoin(
        members: Membership, node: int, cause: int, edges: frozenset[int] | None = None
    ) -> bool:
        agent = members.agents[node]
        honest = agent.noise
        agent.noise = lambda k: honest(max(0, k - 1))
        return join(members, node, cause, edges)

    patch.setattr(Membership, "join", rejoin)


def charges_after_sending(patch: pytest.MonkeyPatch) -> None:
    """The vector leaves first; the charge comes after it."""
    act = Agent.act

    def hasty(agent: Agent, state: Any, heard: Any, cause: int, to: Any = None) -> bool:
        if agent.store.published is not None and agent.status == "up":
            agent.outbox.broadcast(agent.model, agent.store.version, agent.rounds, cause)
        return act(agent, state, heard, cause, to)

    patch.setattr(Agent, "act", hasty)


def leaks_a_gradient(patch: pytest.MonkeyPatch) -> None:
    """A release is charged and ready, and what is sent is the raw gradient."""

    def leak(agent: Agent, cause: int, to: Any) -> bool:
        del to
        objective = agent.mechanism.objective  # type: ignore[attr-defined]
        raw = objective.gradient(agent.model)
        agent.outbox.broadcast(raw, agent.store.published_version, agent.rounds, cause)
        return True

    patch.setattr(Agent, "_send", leak)


PLANTED: dict[str, tuple[Plant, str, dict[str, Any]]] = {
    "a dropped charge": (
        dropped_charge,
        "ledger survives",
        {"every": 4.0, "until": 18.0, "for": 1.5, "crash": "minority"},
    ),
    "a message delivered to the dead": (
        delivered_to_the_dead,
        "silence",
        {"every": 3.0, "until": 18.0, "for": 2.0, "crash": "one"},
    ),
    "a heal that forgets one direction": (
        heals_one_direction,
        "declared faults",
        {"at": 4.0, "for": 4.0, "partition": {"groups": [[0, 1, 2]]}},
    ),
    "noise reused on rejoin": (
        noise_of_the_former_life,
        "noise once",
        {"at": 4.0, "for": 4.0, "leave": "minority"},
    ),
    "a charge after send": (
        charges_after_sending,
        "only releases",
        {"at": 4.0, "for": 1.0, "pause": "all"},
    ),
    "a leak of a raw gradient": (
        leaks_a_gradient,
        "only releases",
        {"at": 4.0, "for": 1.0, "pause": "all"},
    ),
}
NOISY: list[dict[str, Any]] = [
    {"at": 1.0, "loss": {"on": "all", "p": 0.1}},
    {"at": 2.0, "for": 3.0, "delay": {"on": [1], "latency": "300ms"}},
    {"every": 5.0, "until": 19.0, "for": 1.0, "duplicate": {"on": "one", "p": 0.5}},
    {"at": 6.0, "for": 2.0, "reorder": {"on": [3], "p": 0.5}},
]


def why(verdict: Verdict) -> str:
    return (
        verdict.lines[0].removeprefix("an invariant broke: ").split(":")[0]
        if verdict.code == 3
        else ""
    )


@pytest.mark.slow
@pytest.mark.parametrize("name", PLANTED)
def test_a_planted_bug_is_caught_and_shrunk(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plant, invariant, fault = PLANTED[name]
    nodes = [{"name": "peers", "count": 12, "budget": {"epsilon": 4.0, "delta": 1e-5}}]
    tree = private(
        nodes=nodes,
        network={"topology": "complete", "latency": "400ms"},
        mechanism={"kind": "cd", "noise": "norm-gamma", "releases": 25},
        fault=[*NOISY[:2], fault, *NOISY[2:]],
    )
    path = tmp_path / "world.toml"

    def tried(smaller: dict[str, Any]) -> str:
        path.write_text(to_toml(smaller), encoding="utf-8")
        return why(attempt(Case(str(path))))

    assert tried(tree) == ""
    with monkeypatch.context() as patch:
        plant(patch)
        assert tried(tree) == invariant
        smallest, runs = shrink(tree, lambda smaller: tried(smaller) == invariant)
        faults, agents, lasts = size(smallest)
        assert faults <= 1
        assert agents <= 6
        assert lasts < 20.0
        assert runs <= 400
        path.write_text(to_toml(smallest), encoding="utf-8")
        alone = attempt(Case(str(path)))
        assert why(alone) == invariant
        assert any(line.startswith("replay:  hush run ") for line in alone.lines)
    assert why(attempt(Case(str(path)))) == ""
