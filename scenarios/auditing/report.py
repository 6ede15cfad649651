"""What an audit found, in words, as a file, and as a picture."""

from typing import Any

from scenarios.auditing.audit import BROKEN, MODELS, REFUTED, Finding, Order
from scenarios.language.json_numbers import figure, self_declared, show
from scenarios.language.null_reasons import UNDECLARED, with_reasons

_WHY_NULL = {
    "bound.threshold": "no threshold separates the runs",
    "bound.hits_at_least": "no test told the runs apart",
    "bound.alarms_at_most": "no test told the runs apart",
    "epsilon.declared_by": UNDECLARED,
    "power": "the statistic is not the exact loss: its power is unknown",
    "runs_for_80": "this audit has 80 % of power, or no million runs would, or it is unknown",
}
"""Why figures of an audit may be missing, by patterns of their places."""


def as_json(order: Order, found: Finding) -> dict[str, Any]:
    """Everything that the audit's folder holds."""
    rates = found.bound.rates
    told = {
        "scenario": order.plan.name,
        "seed": order.plan.seed,
        "mechanism": order.plan.kind,
        "verdict": found.verdict,
        "epsilon": {
            "audited": figure(found.lower),
            "claimed": figure(found.claimed),
            "charged": figure(found.charged),
            "delta": found.delta,
            "view": order.eyes,
            "accountant": found.accountant,
            "declared_by": found.declared_by,
        },
        "bound": {
            "value": found.bound.value,
            "unit": found.unit,
            "statistic": found.bound.statistic,
            "threshold": figure(found.bound.threshold),
            "hits_at_least": None if rates is None else rates.hits,
            "alarms_at_most": None if rates is None else rates.alarms,
        },
        "runs": order.runs,
        "confidence": order.confidence,
        "power": found.power,
        "runs_for_80": found.enough,
        "neighbours": {"how": order.how, "node": found.node, "what": found.words},
        "releases": found.releases,
        "curve": [
            {"releases": k, "audited": figure(a), "claimed": figure(c), "charged": figure(e)}
            for k, a, c, e in found.curve
        ],
    }
    return with_reasons(told, _WHY_NULL)


def in_words(order: Order, found: Finding) -> list[str]:
    """Tell a person: the verdict, all three numbers, and what the test was worth."""
    whose = f"{order.eyes} view, δ = {found.delta:g}"
    unit = f" (μ ≥ {found.bound.value:.4g})" if found.unit == "mu" else ""
    code = found.declared_by
    who = "what the calibration promises" if code is None else self_declared(code)
    lines = [
        f"{order.plan.name} · {order.plan.kind} · seed {order.plan.seed} · {found.verdict}",
        f"  neighbours {found.words}; agent {found.node}, {found.releases} releases",
        f"  claimed    ε = {show(found.claimed)}   {who} ({whose})",
        f"  audited    ε ≥ {show(found.lower)}{unit}   from 2 × {order.runs:,} runs, at {100 * order.confidence:.12g} % "
        f"confidence, by: {found.bound.statistic or 'nothing'}",
        f"  charged    ε = {show(found.charged)}   what the ledger says (accountant: {found.accountant})",
        f"  power      {_power(found)}",
    ]
    if found.verdict == REFUTED and code is not None:
        lines.append(f"  The claim is refuted: more leaks than {code} declares, to the ledger too.")
    elif found.verdict == REFUTED:
        lines.append(
            "  The claim is refuted: more leaks than was promised. The ledger charged for it."
        )
    elif found.verdict == BROKEN:
        lines.append(
            "  More leaks than the ledger charged. "
            + (
                "Releases are not rounded here (privacy.grid = false): low bits of doubles leak."
                if not order.plan.resolved["privacy"]["grid"]
                else "That is a fault of hush: please report it."
            )
        )
    elif found.power is None:
        lines.append(
            "  Not refuted: what a test of final models is worth is not known; the eavesdropper's is stronger."
            if found.bound.statistic == MODELS and code is None
            else "  Not refuted: what this test is worth is not known, so that it proves nothing."
        )
    elif found.power < 0.5:
        lines.append(
            "  Not refuted says little here: the test could hardly have told. "
            + (
                "More runs help."
                if found.enough
                else "No number of runs up to a million would: losses this large, or in so many dimensions, do not show."
            )
        )
    else:
        lines.append(
            "  Not refuted: this test found nothing, which proves nothing beyond its power."
        )
    return lines


def _power(found: Finding) -> str:
    """What the test was worth, in words."""
    if found.power is None:
        return "unknown: the statistic is not the exact loss"
    told = f"{100 * found.power:.0f} % that exact losses of twice the claim would be refuted with so many runs"
    return told + (f"; 80 % with about 2 × {found.enough:,}" if found.enough else "")
