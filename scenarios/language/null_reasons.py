"""Why a figure is missing: where JSON holds null for a number, its reason stands beside it."""

import re
from collections.abc import Collection, Iterator, Mapping
from fnmatch import translate
from typing import Any

from scenarios.language.json_table import JsonTable

UNMEASURED = "it was not measured"
"""What is said where no rule knows better."""
UNDECLARED = (
    "what a release costs is calibrated by hush, not declared by code of the scenario's own"
)
"""Why no code is named that declares an ε."""
UNCALIBRATED = "the file names the accountant, or no noise follows from a budget"
"""Why no accountant was chosen."""


def nulls(tree: Any, path: str = "", known: Collection[str] = ()) -> Iterator[str]:
    """Yield the dotted path of every null in a JSON tree; entries of a list have numbers.

    Of a column of a table for which `known` holds a pattern, such as `nodes.*.cap`, only the first null is named.
    """
    if tree is None:
        yield path
    elif isinstance(tree, JsonTable):
        once = frozenset(key for key in tree.columns if f"{path}.*.{key}" in known)
        for row, column in tree.nulls(once):
            yield f"{path}.{row}.{column}"
    elif isinstance(tree, (dict, list)):
        entries = tree.items() if isinstance(tree, dict) else enumerate(tree)
        for key, value in entries:
            yield from nulls(value, f"{path}.{key}" if path else str(key), known)


def with_reasons(tree: dict[str, Any], rules: Mapping[str, str]) -> dict[str, Any]:
    """Return a tree with `reasons`: of every null in it, why there is no number.

    `rules` maps patterns of dotted paths, such as `nodes.*.cap`, to reasons. The pattern names the
    reason in the tree, so that ten thousand agents without a budget need one line.
    """
    matches = {pattern: re.compile(translate(pattern)).match for pattern in rules}
    reasons: dict[str, str] = {}
    for path in nulls(tree, known=rules):
        if path in reasons or any(matches[p](path) for p in rules if p in reasons):
            continue
        pattern = next((p for p in rules if matches[p](path)), path)
        reasons[pattern] = rules.get(pattern, UNMEASURED)
    return tree | {"reasons": reasons}
