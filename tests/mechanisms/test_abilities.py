"""Abilities of mechanisms: each kind has those that its family needs, and a mechanism that lacks one is refused."""

from pathlib import Path

import numpy as np
import pytest

from actors.behaviours.client import run_client
from actors.behaviours.exchange import exchange
from mechanisms.abilities import (
    AnswersServer,
    BoundsGradient,
    Derives,
    Explains,
    HasOpening,
    HasSchedule,
    KeepsDuals,
    MeasuresNoise,
    Recovers,
    Trades,
    offers,
    openings_of,
    scheduled,
)
from mechanisms.vectors import Vector
from mechanisms.witness import Witness
from scenarios.api.runs import make_plan
from scenarios.running.control import RunGovernor
from scenarios.running.run import Run
from tests.support.builders import private
from tests.support.catalogue import EVERY, family, world
from tests.support.catalogue import private as is_private


@pytest.mark.parametrize("name", EVERY)
def test_every_kind_has_the_abilities_of_its_family_and_no_other(name: str) -> None:
    node = make_plan(world(name, "synchronous", rounds=3)).nodes[0]
    mechanism, of = node.mechanism, family(name)
    assert isinstance(mechanism, KeepsDuals) == (of == "consensus")
    assert isinstance(mechanism, AnswersServer) == (of == "server")
    assert isinstance(mechanism, Trades) == (of == "pairs")
    assert isinstance(mechanism, Recovers) == name.startswith("local-dp")
    if is_private(name):
        assert isinstance(mechanism, Explains)
        assert isinstance(mechanism, HasSchedule)
        assert isinstance(mechanism, MeasuresNoise) != name.startswith("local-dp")
    if isinstance(mechanism, BoundsGradient):
        longest, bound = mechanism.longest_gradient(node.start)
        assert longest <= bound * (1 + 1e-9)


def test_defaults_stand_in_for_what_is_missing() -> None:
    plain, starts = object(), np.zeros((2, 3))
    assert scheduled(plain, 3) is None
    assert openings_of(plain, starts) is starts


def test_a_behaviour_refuses_a_mechanism_that_lacks_its_ability(tmp_path: Path) -> None:
    made = Run(make_plan(private()), tmp_path / "run", RunGovernor(), 1.0)
    agent = made.agents[0]
    with pytest.raises(TypeError, match="agent 0: CoordinateDescent answers no server"):
        run_client(agent, made.log, made.members)
    with pytest.raises(TypeError, match="agent 0: CoordinateDescent does not exchange in pairs"):
        exchange(agent, made.log, made.members)


def test_a_witness_refuses_a_mechanism_that_does_not_explain_itself() -> None:
    mechanism = make_plan(world("local", "synchronous", rounds=3)).nodes[0].mechanism
    with pytest.raises(TypeError, match="does not explain"):
        Witness(mechanism, mechanism, mechanism)


class Bare:
    """It has no ability of its own, and may be given one."""


class Slotted:
    """It has no ability, and cannot be given one."""

    __slots__ = ()


class Opens(Slotted):
    """It has one."""

    def opening(self, start: Vector) -> Vector:
        return start


def test_what_a_class_offers_is_what_isinstance_says_of_its_instances() -> None:
    """Asked for once for a class, and again for each instance that may have names of its own."""
    given = Bare()
    given.opening = lambda start: start  # type: ignore[attr-defined] # as code of one's own may
    for _ in range(2):
        for thing in (Bare(), given, Slotted(), Opens()):
            for ability in (HasOpening, HasSchedule, Derives, KeepsDuals):
                assert offers(thing, ability) == isinstance(thing, ability)
