"""The dotted keys of a scenario file, as `--set` and `--grid` take them, completed level by level. It loads no NumPy."""

from collections.abc import Iterator, Mapping

from scenarios.language.table_rules import Field, Free, Kinds, Many, SubTable, keys_of
from scenarios.language.value_rules import Choice, Either, Flag, Rule
from scenarios.planning.fault_kinds import FaultRule, keys_of_faults
from scenarios.planning.scenario_tables import ScenarioTable
from scenarios.planning.sweep_table import SweepRule, SweepTable

_GROUPS = "nodes"


def possible_keys(current: str) -> list[tuple[str, str]]:
    """Return what a beginning such as `network.l` may become: a key that ends in `.` where others stand below it, else in `=`.

    After `=` the values of a choice are returned, with the key before them.
    """
    dotted, equals, _ = current.partition("=")
    *above, last = dotted.split(".")
    rules: list[Rule] = [SubTable(ScenarioTable)]
    for part in above:
        rules = [rule for one in rules for rule in _below(one).get(part, ())]
    if equals:
        rules = [rule for one in rules for rule in _below(one).get(last, ())]
        return [(f"{dotted}={value}", "") for rule in rules for value in _words_of(rule)]
    prefix = "".join(f"{part}." for part in above)
    found = {}
    for rule in rules:
        for name, below in _below(rule).items():
            if any(_below(one) or isinstance(one, Free) for one in below):
                found[f"{prefix}{name}."] = "table"
            if any(_is_value(one) for one in below):
                found[f"{prefix}{name}="] = "key"
    return list(found.items())


def _is_value(rule: Rule) -> bool:
    """Whether something may be written that is no table: a number, a word, an array of them, the bare name of a kind."""
    if isinstance(rule, Many):
        return not _below(rule.rule)
    return not isinstance(rule, (SubTable, FaultRule, SweepRule, Free))


def _below(rule: Rule) -> dict[str, list[Rule]]:
    """Return the keys below a value of a rule, with the rules of each; empty where none stand there."""
    below: dict[str, list[Rule]] = {}
    match rule:
        case SubTable():
            _add(below, keys_of(rule.table))
        case SweepRule():
            _add(below, keys_of(SweepTable))
        case FaultRule():
            _add(below, keys_of_faults())
        case Kinds():
            below[rule.tag] = [Choice(*rule.kinds)]
            for kind in rule.kinds:
                _add(below, keys_of(rule.kinds[kind]))
        case Either():
            for part in rule.rules:
                for name, rules in _below(part).items():
                    below.setdefault(name, []).extend(rules)
        case Many() if _below(rule.rule):
            below["0"] = [rule.rule]
            if rule.rule == _groups():
                below["all"] = [rule.rule]
    return below


def _add(below: dict[str, list[Rule]], keys: Mapping[str, Field]) -> None:
    for name, field in keys.items():
        below.setdefault(name, []).append(field.rule)


def _groups() -> Rule:
    """Return the rule of one group of agents."""
    many = keys_of(ScenarioTable)[_GROUPS].rule
    assert isinstance(many, Many), "groups are an array"  # noqa: S101
    return many.rule


def _words_of(rule: Rule) -> Iterator[str]:
    """Yield the words that a value may be."""
    match rule:
        case Choice():
            yield from rule.names
        case Flag():
            yield from ("true", "false")
        case Kinds():
            yield from rule.kinds
        case Either():
            for part in rule.rules:
                yield from _words_of(part)
