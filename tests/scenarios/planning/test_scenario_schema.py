"""The schema of the scenario file: every file that hush reads fits it, and files with one thing wrong do not."""

import json
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from scenarios.experiments.random_worlds import Dice, small_world
from scenarios.language.reader import LIBRARY, library_names
from scenarios.language.table_rules import Kinds, KindTable, Table, keys_of
from scenarios.language.value_rules import Number
from scenarios.planning import scenario_schema
from scenarios.planning.clocks import CLOCKS
from scenarios.planning.data_sources import SOURCES
from scenarios.planning.fault_kinds import fault_kinds
from scenarios.planning.mechanism import MECHANISMS
from scenarios.planning.metric_names import METRICS
from scenarios.planning.scenario import load
from scenarios.planning.scenario_schema import schema, schema_text
from scenarios.planning.scenario_tables import ScenarioTable
from scenarios.planning.topologies import TOPOLOGIES
from tests.support.builders import scenario
from tests.support.python import python


@lru_cache(maxsize=1)
def validator() -> Draft202012Validator:
    return Draft202012Validator(schema())


def problems(tree: Any) -> list[str]:
    return [error.json_path for error in validator().iter_errors(tree)]


def test_the_schema_is_one() -> None:
    Draft202012Validator.check_schema(schema())
    assert json.loads(schema_text()) == schema()


@pytest.mark.parametrize("name", library_names())
def test_every_library_scenario_fits(name: str) -> None:
    assert problems(tomllib.loads((LIBRARY / f"{name}.toml").read_text("utf-8"))) == []


@pytest.mark.parametrize("name", [n for n in library_names() if "/" not in n])
def test_a_scenario_with_every_default_written_out_fits(name: str) -> None:
    """So what hush writes into resolved.toml does."""
    assert problems(load(name).raw) == []


@pytest.mark.parametrize("seed", range(40))
def test_random_worlds_fit(seed: int) -> None:
    assert problems(small_world(Dice(seed, 0))) == []


@pytest.mark.parametrize("kind", fault_kinds(), ids=lambda kind: kind.name)
def test_examples_of_every_fault_fit(kind: Any) -> None:
    for example in kind.examples:
        world = scenario(fault=[example.make(Dice(1, 1), 3) | {"at": 1.0}])
        assert problems(world) == []


BASE = scenario(network={"topology": "ring"})
WRONG: dict[str, dict[str, Any]] = {
    "an unknown key of the top": BASE | {"nodez": 3},
    "an unknown key of a table": BASE | {"run": {"sed": 3}},
    "an unknown key of a kind": BASE | {"mechanism": {"kind": "cd", "muu": 1}},
    "an unknown key of a group": BASE | {"nodes": [{"count": 3, "clok": "poisson"}]},
    "an unknown key of a fault": BASE | {"fault": [{"at": 1, "crash": [1], "fro": 2}]},
    "a text for a number": BASE | {"network": {"loss": "much"}},
    "a number for a text": BASE | {"name": 3},
    "a number for a table": BASE | {"run": 3},
    "a table for an array": BASE | {"nodes": {"count": 3}},
    "a fraction for a whole number": BASE | {"nodes": [{"count": 2.5}]},
    "a number for true or false": BASE | {"nodes": [{"count": 3, "present": 1}]},
    "a share above 1": BASE | {"network": {"loss": 1.5}},
    "a negative share": BASE | {"network": {"loss": -0.1}},
    "a budget of 0": BASE | {"nodes": [{"count": 3, "budget": {"epsilon": 0}}]},
    "a negative seed": BASE | {"run": {"seed": -1}},
    "a schema of the future": BASE | {"schema": 2},
    "a duration without a unit": BASE | {"run": {"horizon": "30"}},
    "a duration with an unknown unit": BASE | {"run": {"horizon": "30 weeks"}},
    "an unknown mechanism": BASE | {"mechanism": "cdd"},
    "an unknown kind of mechanism": BASE | {"mechanism": {"kind": "cdd"}},
    "an unknown clock": BASE | {"nodes": [{"count": 3, "clock": {"kind": "poison"}}]},
    "an unknown topology": BASE | {"network": {"topology": "rng"}},
    "an unknown source": BASE | {"data": {"source": "blob"}},
    "an unknown loss": BASE | {"task": {"loss": "logistics"}},
    "an unknown engine": BASE | {"run": {"engine": "real"}},
    "an unknown metric": BASE | {"expect": [{"metric": "los.mean", "above": 0}]},
    "an unknown aggregate": BASE | {"expect": [{"metric": "loss.median", "above": 0}]},
    "an unknown view": BASE | {"privacy": {"views": ["nosy"]}},
    "an unknown fault": BASE | {"fault": [{"at": 1, "crsh": [1]}]},
    "two actions of a fault": BASE | {"fault": [{"at": 1, "crash": [1], "pause": [1]}]},
    "no agents": {key: value for key, value in BASE.items() if key != "nodes"},
    "an empty array of agents": BASE | {"nodes": []},
    "no mechanism": {key: value for key, value in BASE.items() if key != "mechanism"},
    "a kind without its name": BASE | {"mechanism": {"mu": 1.0}},
    "a parameter that is needed": BASE | {"network": {"topology": {"kind": "regular"}}},
    "a bare name that needs a parameter": BASE | {"network": {"topology": "regular"}},
    "a value that varies alone": BASE | {"sweep": {"network.loss": 0.1}},
}


@pytest.mark.parametrize("what", WRONG)
def test_a_file_with_one_thing_wrong_does_not_fit(what: str) -> None:
    assert problems(BASE) == []
    assert problems(WRONG[what]) != []
    report = load(WRONG[what]).report
    hush_refuses = bool(report.problems) or what in {"an unknown metric", "an unknown aggregate"}
    assert hush_refuses, "what hush reads must fit"


def test_a_file_that_extends_another_needs_only_what_differs() -> None:
    part = {"schema": 1, "extends": "library:quickstart"}
    assert problems(part) == []
    assert problems(part | {"mechanism": {"mu": 2.0}, "nodes": [{"name": "phones"}]}) == []
    assert problems(part | {"mechanism": {"muu": 2.0}}) != []
    assert problems(part | {"extends": 3}) != []


def test_what_is_wrong_is_told_where_it_is() -> None:
    assert set(problems(BASE | {"run": {"sed": 3}})) == {"$.run"}
    assert set(problems(BASE | {"network": {"loss": 1.5}})) == {"$.network.loss"}
    assert set(problems(BASE | {"mechanism": "cdd"})) == {"$.mechanism"}
    assert set(problems(BASE | {"mechanism": {"kind": "cdd"}})) == {"$.mechanism.kind"}
    unknown = BASE | {"mechanism": {"kind": "cd", "relases": 10}}
    assert {e.message for e in validator().iter_errors(unknown)} >= {
        "Additional properties are not allowed ('relases' was unexpected)"
    }
    assert set(problems(BASE | {"mechanism": {"kind": "cd", "mu": -1}})) == {"$.mechanism.mu"}
    other = BASE | {"mechanism": {"kind": "cd", "theta": 0.5}}  # of another kind
    assert set(problems(other)) == {"$.mechanism"}


FAMILIES = [
    ("mechanism", MECHANISMS),
    ("nodes.clock", CLOCKS),
    ("network.topology", TOPOLOGIES),
    ("data", SOURCES),
]


@pytest.mark.parametrize(("what", "family"), FAMILIES, ids=lambda value: str(value)[:12])
def test_every_kind_of_a_family_has_its_keys(what: str, family: Any) -> None:
    definitions, place = schema()["$defs"], schema()["properties"]
    for key in what.split("."):
        place = place[key]
        if "items" in place:
            place = place["items"]
        made = definitions[place["$ref"].removeprefix("#/$defs/")]
        place = made.get("properties", made)
    tag = "source" if what == "data" else "kind"
    of_kind = made["properties"][tag]
    names = of_kind["anyOf"][0]["enum"] if "anyOf" in of_kind else of_kind["enum"]
    assert set(names) == set(family)
    thens = {
        part["if"]["properties"][tag]["enum"][0]: part["then"]["$ref"]
        for part in made["allOf"]
        if "enum" in part.get("if", {}).get("properties", {}).get(tag, {})
    }
    for name, kind in family.items():
        own = definitions[thens[name].removeprefix("#/$defs/")]
        assert set(keys_of(kind.table)) | {tag} == set(own["properties"])
        assert own["additionalProperties"] is False
        assert set(own["properties"]) <= set(made["properties"])


def test_metrics_are_those_of_the_family() -> None:
    for name, metric in METRICS.items():
        text = f"{name}.mean" if metric.per_agent else name
        assert problems(BASE | {"expect": [{"metric": text, "above": 0}]}) == []
    goal = {"targets": {"good": {"metric": "loss.mean", "below": 1}}}
    assert problems(BASE | goal | {"expect": [{"metric": "time_to.good", "below": 9}]}) == []


def _walk(part: Any) -> Iterator[dict[str, Any]]:
    if isinstance(part, dict):
        yield part
    for below in (
        part.values() if isinstance(part, dict) else part if isinstance(part, list) else ()
    ):
        yield from _walk(below)


def test_no_value_is_just_anything_and_every_reference_leads_somewhere() -> None:
    made = schema()
    says = {"type", "anyOf", "enum", "pattern", "$ref", "not", "required", "oneOf", "properties"}
    for name, part in made["$defs"].items():
        assert says & set(part), name
    for part in _walk(made):
        if "$ref" in part and isinstance(part["$ref"], str):
            assert part["$ref"].removeprefix("#/$defs/") in made["$defs"]
        if isinstance(part.get("properties"), dict) and "type" in part:
            assert all(says & set(value) for value in part["properties"].values())


def test_a_rule_that_the_schema_does_not_know_is_an_error() -> None:
    """Also one that only inherits from a rule that it knows: what it refuses would be let through."""

    class Prime(Number):
        __slots__ = ()

    @dataclass(frozen=True)
    class Anything:
        def read(self, value: Any, *_: Any) -> Any:
            return value

        fill = read

    maker = scenario_schema._Maker({})
    assert maker.of(Number(low=0))["minimum"] == 0
    for rule in (Prime(), Anything()):
        with pytest.raises(TypeError, match=f"the rule {type(rule).__name__}"):
            maker.of(rule)


@pytest.mark.parametrize("value", [-1, 0, 0.5, 1, 2, 1e-13, 1e13, True, "1", None, [1]])
@pytest.mark.parametrize(
    "rule",
    [
        Number(),
        Number(low=0, high=1),
        Number(above=0, below=1),
        Number(low=1, whole=True),
        Number(above=0, least=1e-12, most=1e12),
        Number(high=10, most=1e12),
    ],
    ids=lambda rule: rule.words() if isinstance(rule, Number) else None,
)
def test_a_number_fits_where_its_rule_reads_it(rule: Number, value: Any) -> None:
    from scenarios.language.problems import Report

    if rule.whole and isinstance(value, float):
        value = int(value) + 0.5  # to a schema 2.0 is a whole number
    report = Report({}, {})
    rule.read(value, (), report)
    fits = Draft202012Validator(scenario_schema._Maker({}).of(rule)).is_valid(value)
    assert fits == (not report.problems)


def test_defaults_are_those_of_the_tables() -> None:
    made = schema()

    def check(table: type[Table], part: dict[str, Any]) -> None:
        for name, field in keys_of(table).items():
            assert part["properties"][name].get("default", field.default) == field.default

    check(ScenarioTable, made)
    for kind in MECHANISMS.values():
        check(kind.table, made["$defs"][f"{kind.table.__name__}.{kind.name}"])
    assert made["properties"]["nodes"].get("default") is None
    assert made["$defs"]["RunTable"]["properties"]["engine"]["default"] == "virtual"


def test_the_schema_loads_no_numpy() -> None:
    code = "import sys; from scenarios.planning.scenario_schema import schema; schema(); print([m for m in ('numpy', 'msgspec', 'networkx') if m in sys.modules])"
    assert python("-c", code).stdout.strip() == "[]"


def test_new_writes_the_schema_beside_and_names_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from scenarios.command.main import main

    monkeypatch.chdir(tmp_path)
    (tmp_path / "worlds").mkdir()
    assert main(["new", "worlds/a.toml"]) == 0
    text = (tmp_path / "worlds/a.toml").read_text("utf-8")
    first = text.split("\n")[0]
    assert first == "#:schema ./hush.schema.json"
    made = json.loads((tmp_path / "worlds" / first.removeprefix("#:schema ")).read_text("utf-8"))
    assert list(Draft202012Validator(made).iter_errors(tomllib.loads(text))) == []
    capsys.readouterr()
    assert main(["schema"]) == 0
    assert json.loads(capsys.readouterr().out) == made
    (tmp_path / "worlds/hush.schema.json").write_text(schema_text().replace("kind", "sort"))
    assert main(["new", "worlds/b.toml"]) == 0  # an older one is renewed
    assert json.loads((tmp_path / "worlds/hush.schema.json").read_text("utf-8")) == made


@pytest.mark.parametrize("content", [b"{}", b"\xff"])
def test_new_leaves_a_schema_that_is_not_its_own(
    content: bytes,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    from scenarios.command.main import main

    monkeypatch.chdir(tmp_path)
    (tmp_path / "hush.schema.json").write_bytes(content)
    assert main(["new", "a.toml"]) == 0
    assert (tmp_path / "hush.schema.json").read_bytes() == content
    assert "hush.schema.json" in capsys.readouterr().err
    assert main(["check", "./a.toml"]) == 0


def test_a_kind_that_is_added_is_in_the_schema() -> None:
    class NewTable(KindTable):
        """A new kind."""

    made: dict[str, Any] = {}
    scenario_schema._Maker(made).of(Kinds("thing", {"new": NewTable}))
    assert made["NewTable.new"]["properties"]["kind"]["enum"] == ["new"]
    assert made["thing"]["properties"]["kind"]["enum"] == ["new"]
