"""A mechanism is one record in one file, and everything else folds over the records."""

import ast
import subprocess
import sys
from collections.abc import Callable
from dataclasses import MISSING, fields, replace
from pathlib import Path
from typing import Any

import pytest

from scenarios.api.runs import make_plan
from scenarios.command.word_card import in_words
from scenarios.language.problems import ScenarioError
from scenarios.planning.mechanism import (
    MECHANISMS,
    Card,
    MechanismKind,
    Noise,
    examples,
    in_order,
    read_mechanism,
    record_of,
)
from scenarios.planning.mechanism_tables import MechanismTable
from scenarios.planning.vocabulary.mechanism import KIND
from tests.support.builders import perform, scenario
from tests.support.catalogue import world
from tests.support.paths import ROOT


@pytest.mark.parametrize("name", MECHANISMS)
def test_a_record_says_everything_of_its_kind(name: str) -> None:
    kind = MECHANISMS[name]
    assert kind.name == name
    assert all(getattr(kind.card, part.name) for part in fields(Card))
    table = kind.table(kind=name)
    assert kind.inner is None or isinstance(table, kind.inner)
    assert kind.unit(table) is None or kind.noise is not None
    if kind.steps is not None:
        assert set(kind.steps(table)) <= set(kind.keys)


@pytest.mark.parametrize("name", examples())
def test_an_example_holds_under_any_budget(name: str) -> None:
    """Random worlds draw budgets from ε = 0.5 to 8."""
    table = read_mechanism(examples()[name])
    assert isinstance(table, MechanismTable)
    needs = record_of(table).needs_budget(table)
    for epsilon in (0.5, 8.0) if needs else (None,):
        tree = world(name)
        for node in tree["nodes"] if epsilon is not None else ():
            node["budget"] = {"epsilon": epsilon, "delta": 1e-5}
        assert make_plan(tree).kind == table.kind


@pytest.mark.parametrize(
    "field", [part.name for part in fields(MechanismKind) if part.default is MISSING]
)
def test_a_record_with_a_wrong_field_cannot_be_made(field: str) -> None:
    wrong: dict[str, Any] = {field: "brand-new" if field == "family" else 7}
    with pytest.raises((TypeError, ValueError), match=field):
        replace(MECHANISMS["dvp"], **wrong)


def test_a_consensus_kind_has_the_keys_of_its_objective() -> None:
    with pytest.raises(
        TypeError, match="'cd': table must be a subclass of ConsensusTable, as every"
    ):
        replace(MECHANISMS["cd"], family="consensus")


@pytest.mark.parametrize("unit", ["brand-new", {"laplace": "brand-new"}, {}])
def test_a_charge_without_a_unit_cannot_be_told(unit: Any) -> None:
    noise = MECHANISMS["cd"].noise
    assert isinstance(noise, Noise)
    with pytest.raises(ValueError, match="unit"):
        replace(noise, unit=unit)


def test_a_new_kind_is_one_file(
    tmp_path: Path, plant_mechanism: Callable[[str, str], None]
) -> None:
    plant_mechanism("brand-new", "KIND = MechanismKind(**given)")
    ran = perform(scenario(mechanism={"kind": "brand-new"}), tmp_path)
    assert ran.result.summary["mechanism"] == "brand-new"
    assert in_words(KIND, KIND.card("brand-new"))[0].startswith("brand-new: ")
    assert "brand-new" in examples()
    assert "brand-new" in [kind.name for kind in in_order()]
    inside = {"kind": "local-dp", "epsilon_features": 2.0, "epsilon_label": 1.0}
    inside["inner"] = {"kind": "brand-new"}
    assert make_plan(scenario(mechanism=inside)).family == "alone"


def test_a_kind_that_cannot_stand_inside_another_is_refused() -> None:
    inside = {"kind": "local-dp", "epsilon_features": 2.0, "epsilon_label": 1.0}
    with pytest.raises(ScenarioError, match="unknown mechanism 'dvp'"):
        make_plan(scenario(mechanism=inside | {"inner": {"kind": "dvp"}}))


def test_records_load_no_numpy() -> None:
    code = (
        "import sys\n"
        "from scenarios.planning.mechanism import MECHANISMS\n"
        "assert list(MECHANISMS.values())\n"
        "print('numpy' in sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT, check=True
    )
    assert done.stdout.strip() == "False"


def comparisons(text: str, names: set[str]) -> list[int]:
    """The lines that compare something with the name of a mechanism."""
    found = []
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, (ast.Compare, ast.MatchValue)):
            strings = {c.value for c in ast.walk(node) if isinstance(c, ast.Constant)}
            if strings & names:
                found.append(node.lineno)
    return found


def test_nothing_is_decided_by_the_name_of_a_mechanism() -> None:
    names = set(MECHANISMS) - {"local"}  # a start of agents has this name, too
    found = [
        f"{path.relative_to(ROOT)}:{line}"
        for room in ("scenarios", "actors", "mechanisms", "clocks", "hush")
        for path in sorted((ROOT / room).rglob("*.py"))
        for line in comparisons(path.read_text("utf-8"), names)
    ]
    assert found == []
    assert comparisons('if kind in {"cd", "warm-cd"}: pass', names) == [1]
    assert comparisons('match kind:\n    case "dvp" | "pvp": pass', names) == [2, 2]
