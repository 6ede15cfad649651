"""What `--set KEY.kind=…` silently changes: keys of the new kind that are at their defaults, and keys of the old that fell."""

from typing import Any

from scenarios.language.positions import Path
from scenarios.language.reader import Replaced
from scenarios.language.table_rules import ABSENT, REQUIRED, Field, Kinds, Many, SubTable, keys_of
from scenarios.planning.fault_kinds import FaultRule, keys_of_faults
from scenarios.planning.scenario import Scenario
from scenarios.planning.scenario_tables import ScenarioTable


def fallbacks(scenario: Scenario) -> list[str]:
    """Return a sentence for each table whose kind was changed after it was written; none where nothing fell back."""
    return list(filter(None, (_told(each, scenario.given) for each in scenario.replaced)))


def _told(replaced: Replaced, tree: dict[str, Any]) -> str:
    given = _value_at(tree, replaced.path)
    given = given if isinstance(given, dict) else {"kind": given}
    if replaced.now not in (given.get("kind"), given.get("source")):
        return ""  # a later --set changed it again
    rule = _rule_at(replaced.path, tree)
    keys = (
        keys_of(rule.kinds[replaced.now])
        if isinstance(rule, Kinds) and replaced.now in rule.kinds
        else {}
    )
    defaults = {
        name: field.default
        for name, field in keys.items()
        if name not in given and field.default is not ABSENT and field.default is not REQUIRED
    }
    dropped = {name: value for name, value in replaced.keys.items() if name not in given}
    place = ".".join(map(str, replaced.path))
    parts = []
    if defaults:
        parts.append(f"at their defaults are {_listed(defaults)}")
    if dropped:
        parts.append(f'dropped with "{replaced.was}" are {_listed(dropped)}')
    if not parts:
        return ""
    return f'{place} is "{replaced.now}" in place of "{replaced.was}": {"; ".join(parts)}'


def _listed(values: dict[str, Any]) -> str:
    return ", ".join(f"{name} = {_shown(value)}" for name, value in values.items())


def _shown(value: Any) -> str:
    """Write a value as TOML would, in full."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, dict):
        return f"{{ {_listed(value)} }}"
    if isinstance(value, list):
        return f"[{', '.join(map(_shown, value))}]"
    return f'"{value}"' if isinstance(value, str) else str(value)


def _value_at(tree: Any, path: Path) -> Any:
    for part in path:
        try:
            tree = tree[part]
        except (KeyError, IndexError, TypeError):
            return None
    return tree


def _rule_at(path: Path, tree: dict[str, Any]) -> Any:
    """Return the rule of a key by its path, as the kinds stand in a tree; None where there is no such key."""
    rule: Any = SubTable(ScenarioTable)
    for place, part in enumerate(path):
        if isinstance(rule, Many) and isinstance(part, int):
            rule = rule.rule
            continue
        keys = _keys_below(rule, _value_at(tree, path[:place]))
        if part not in keys:
            return None
        rule = keys[str(part)].rule
    return rule


def _keys_below(rule: Any, value: Any) -> dict[str, Field]:
    if isinstance(rule, SubTable):
        return dict(keys_of(rule.table))
    if isinstance(rule, FaultRule):
        return keys_of_faults()
    if isinstance(rule, Kinds) and isinstance(value, dict):
        kind = str(value.get(rule.tag))
        return dict(keys_of(rule.kinds[kind])) if kind in rule.kinds else {}
    return {}
