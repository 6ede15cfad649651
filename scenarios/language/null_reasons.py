"""Why a figure is missing: where JSON holds null for a number, its reason stands beside it."""

from collections.abc import Iterator, Mapping
from fnmatch import fnmatchcase
from typing import Any

UNMEASURED = "it was not measured"
"""What is said where no rule knows better."""
UNDECLARED = (
    "what a release costs is calibrated by hush, not declared by code of the scenario's own"
)
"""Why no code is named that declares an ε."""
UNCALIBRATED = "the file names the accountant, or no noise follows from a budget"
"""Why no accountant was chosen."""


def nulls(tree: Any, path: str = "") -> Iterator[str]:
    """Yield the dotted path of every null in a JSON tree; entries of a list have numbers."""
    if tree is None:
        yield path
    elif isinstance(tree, (dict, list)):
        entries = tree.items() if isinstance(tree, dict) else enumerate(tree)
        for key, value in entries:
            yield from nulls(value, f"{path}.{key}" if path else str(key))


def with_reasons(tree: dict[str, Any], rules: Mapping[str, str]) -> dict[str, Any]:
    """Return a tree with `reasons`: of every null in it, why there is no number.

    `rules` maps patterns of dotted paths, such as `nodes.*.cap`, to reasons. The pattern names the
    reason in the tree, so that ten thousand agents without a budget need one line.
    """
    reasons: dict[str, str] = {}
    for path in nulls(tree):
        if not any(fnmatchcase(path, pattern) for pattern in reasons):
            pattern = next((p for p in rules if fnmatchcase(path, p)), path)
            reasons[pattern] = rules.get(pattern, UNMEASURED)
    return tree | {"reasons": reasons}
