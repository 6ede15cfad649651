"""A spend as a line of a ledger file holds it, and back to the last bit: infinity is a word.

Events carry charges rounded up to 1e-9, a line the charge itself: what is composed of it is the ε of the run.
"""

import math
from collections.abc import Iterator, Mapping
from operator import attrgetter
from pathlib import Path
from typing import Any

from mechanisms.accounting.spend import Hidden, Solve, Spend, rounded_up
from scenarios.language.json_numbers import number
from scenarios.records.file_guard import Charge, decoded, opened

_SPEND = (
    *("mechanism", "law", "calibration", "scale", "sensitivity", "norm", "d", "jacobian"),
    *("claimed", "charged"),
)
"""The fields of every line, called as in `Spend`."""
_SOLVE = ("kappa", "degree", "phi", "C", "bend", "residual", "tolerance")
"""What a perturbed objective's Jacobian rests on, in the order of `Solve`; the line's `sensitivity` is 2C/B."""
FIELDS = (*_SPEND, "summed", *_SOLVE, "hidden", "contraction")
"""All fields that a spend may have in a line, in their order."""
_values = attrgetter(*_SPEND)


def line_of(spend: Spend) -> dict[str, Any]:
    """Return what a file holds of a spend."""
    line = dict(zip(_SPEND, _values(spend), strict=True))
    line["sensitivity"], line["claimed"] = _finite(spend.sensitivity), _finite(spend.claimed)
    line["charged"] = _finite(spend.charged)
    if spend.summed is not None:
        line["summed"] = _finite(spend.summed)
    if spend.solve is not None:
        line |= dict(zip(_SOLVE, spend.solve, strict=True))
    if spend.hidden is not None:
        line |= {"hidden": _finite(spend.hidden.mu), "contraction": spend.hidden.contraction}
    return line


def charge_in_events(line: Mapping[str, Any]) -> float | str:
    """Return the charge of a line as events carry it."""
    return rounded_up(number(line["charged"]))


def _finite(value: float) -> float | str:
    return value if math.isfinite(value) else "inf"


def spend_of(line: Mapping[str, Any]) -> Spend:
    """Read a spend back."""
    values = {key: line[key] for key in _SPEND}
    values |= {key: number(line[key]) for key in ("sensitivity", "claimed", "charged")}
    if line.get("summed") is not None:
        values["summed"] = number(line["summed"])
    if "kappa" in line:
        lacking = [key for key in _SOLVE if key not in line]
        if lacking:
            raise ValueError(f"a perturbed objective has no {', '.join(lacking)}")
        values["solve"] = Solve(*(line[key] for key in _SOLVE))
    if "hidden" in line:
        values["hidden"] = Hidden(number(line["hidden"]), line["contraction"])
    return Spend(**values)


def lines_of_ledger(path: Path) -> Iterator[dict[str, Any]]:
    """Yield the whole lines of a ledger file; a line that was cut off ends it. Raises `FolderError` where one is none."""
    with opened(path) as file:
        for line in file:
            if not line.endswith(b"\n"):
                return
            yield decoded(line, path, Charge)
