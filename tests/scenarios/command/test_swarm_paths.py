"""A swarm draws the path of each world: worlds are judged alike by all of them."""

from pathlib import Path
from typing import ClassVar

from scenarios.command.test import _attempt_by_a_path
from scenarios.experiments.random_worlds import Dice
from scenarios.experiments.scenario_tests import Case
from scenarios.language.writer import to_toml
from tests.support.builders import private

_TIMED = {"wall_s", "updates_per_s"}


class Noted(Dice):
    """Dice that remember what they drew."""

    drawn: ClassVar[set[str]] = set()

    def pick(self, options):  # type: ignore[no-untyped-def] # as Dice has it
        picked = super().pick(options)
        self.drawn.add(picked)
        return picked


def test_a_world_of_a_swarm_is_judged_alike_by_every_path(tmp_path: Path) -> None:
    world = tmp_path / "world.toml"
    world.write_text(to_toml(private(network={"topology": "ring", "loss": 0.2})), "utf-8")
    judged = []
    for number in range(9):
        verdict = _attempt_by_a_path(Case(str(world)), {"path": "auto"}, Noted(3, number))
        assert verdict.code == 0
        judged.append({k: v for k, v in verdict.summary.items() if k not in _TIMED})
    assert {"events", "columns"} <= Noted.drawn
    assert all(each["epsilon"] == judged[0]["epsilon"] for each in judged)
    assert all(each["messages"] == judged[0]["messages"] for each in judged)
