"""A spend as a line of a ledger file says it, and back: charges are rounded up, infinity is a word."""

import math
from typing import Any

from mechanisms.accounting.spend import Hidden, Solve, Spend, rounded_up
from scenarios.language.json_numbers import number

_SOLVE = ("kappa", "degree", "phi", "C", "residual", "tolerance")
"""What a perturbed objective's Jacobian rests on, in the order of `Solve`; the line's `sensitivity` is 2C/B."""


def line_of(spend: Spend) -> dict[str, Any]:
    """Return what a file says of a spend."""
    fields = {
        "mechanism": spend.mechanism,
        "law": spend.law,
        "calibration": spend.calibration,
        "scale": spend.scale,
        "sensitivity": _finite(spend.sensitivity),
        "norm": spend.norm,
        "d": spend.d,
        "jacobian": spend.jacobian,
        "claimed": _finite(spend.claimed),
        "charged": rounded_up(spend.charged),
    }
    if spend.summed is not None:
        fields["summed"] = rounded_up(spend.summed)
    if spend.solve is not None:
        fields |= dict(zip(_SOLVE, spend.solve, strict=True))
    if spend.hidden is not None:
        fields |= {"hidden": rounded_up(spend.hidden.mu), "contraction": spend.hidden.contraction}
    return fields


def _finite(value: float) -> float | str:
    return value if math.isfinite(value) else "inf"


def spend_of(line: dict[str, Any]) -> Spend:
    """Read a spend back."""
    summed = line.get("summed")
    solve = hidden = None
    if "kappa" in line:
        solve = Solve(*(line[key] for key in _SOLVE))
    if "hidden" in line:
        hidden = Hidden(number(line["hidden"]), line["contraction"])
    return Spend(
        line["mechanism"],
        line["law"],
        line["calibration"],
        line["scale"],
        number(line["sensitivity"]),
        line["norm"],
        line["d"],
        line["jacobian"],
        number(line["claimed"]),
        number(line["charged"]),
        None if summed is None else number(summed),
        solve,
        hidden,
    )
