"""The result of an audit, in words and as a file."""

from typing import Any

from scenarios.auditing.audit import BROKEN, MODELS, REFUTED, Finding, Order
from scenarios.auditing.planned_test import ALTERNATIVE, WANTED, Planned, percent
from scenarios.language.json_numbers import figure, self_declared, show
from scenarios.language.null_reasons import UNDECLARED, with_reasons

_WHY_NULL = {
    "bound.threshold": "no threshold separates the runs",
    "bound.hits_at_least": "no test told the runs apart",
    "bound.alarms_at_most": "no test told the runs apart",
    "epsilon.declared_by": UNDECLARED,
    "planned": "the number of runs was given from Python",
    "planned.power": "the statistic is not the exact loss: its power is unknown",
    "planned.runs_for_95": "no number of runs up to a million has 95 % of power, or it is unknown",
    "power": "the statistic is not the exact loss: its power is unknown",
    "runs_for_80": "this audit has 80 % of power, or no million runs would, or it is unknown",
}
"""Why figures of an audit may be missing, by patterns of their places."""


def as_json(order: Order, finding: Finding, test: Planned | None = None) -> dict[str, Any]:
    """Return the content of `audit.json`; where a figure is missing (None), `reasons` says why.

    `test` is the test as it was planned before the first run; None where it was not.
    """
    rates = finding.bound.rates
    tree = {
        "scenario": order.plan.name,
        "seed": order.plan.seed,
        "mechanism": order.plan.kind,
        "verdict": finding.verdict,
        "epsilon": {
            "audited": figure(finding.lower),
            "claimed": figure(finding.claimed),
            "charged": figure(finding.charged),
            "delta": finding.delta,
            "view": order.eyes,
            "accountant": finding.accountant,
            "declared_by": finding.declared_by,
            "not_covered": list(order.plan.uncovered),
        },
        "bound": {
            "value": finding.bound.value,
            "unit": finding.bound.unit,
            "statistic": finding.bound.statistic,
            "threshold": figure(finding.bound.threshold),
            "hits_at_least": None if rates is None else rates.hits,
            "alarms_at_most": None if rates is None else rates.alarms,
        },
        "runs": order.runs,
        "confidence": order.confidence,
        "power": finding.power,
        "runs_for_80": finding.enough,
        "planned": None
        if test is None
        else {
            "runs": test.runs,
            "power": test.power,
            "against": ALTERNATIVE,
            "wanted": WANTED,
            "runs_for_95": test.needed,
            "chosen": test.chosen,
        },
        "neighbours": {"how": order.how, "node": finding.node, "what": finding.words},
        "releases": finding.releases,
        "curve": [
            {"releases": k, "audited": figure(a), "claimed": figure(c), "charged": figure(e)}
            for k, a, c, e in finding.curve
        ],
    }
    return with_reasons(tree, _WHY_NULL)


def in_words(order: Order, finding: Finding) -> list[str]:
    """Return lines for a person: the verdict, all three numbers, and the power of the test."""
    terms = f"{order.eyes} view, δ = {finding.delta:g}"
    unit = f" (μ ≥ {finding.bound.value:.4g})" if finding.bound.unit == "mu" else ""
    code = finding.declared_by
    author = "what the calibration promises" if code is None else self_declared(code)
    reasons = [reason for reason in order.plan.uncovered if code is None or reason != author]
    lines = [
        f"{order.plan.name} · {order.plan.kind} · seed {order.plan.seed} · {finding.verdict}",
        f"  neighbours {finding.words}; agent {finding.node}, {finding.releases} releases",
        f"  claimed    ε = {show(finding.claimed)}   {author} ({terms})",
        f"  audited    ε ≥ {show(finding.lower)}{unit}   from 2 × {order.runs:,} runs, at {100 * order.confidence:.12g} % "
        f"confidence, by: {finding.bound.statistic or 'nothing'}",
        f"  charged    ε = {show(finding.charged)}   what the ledger says (accountant: {finding.accountant})",
        f"  power      {_power(finding)}",
        *(f"  NOT COVERED, nor audited: {reason}" for reason in reasons),
    ]
    if finding.verdict == REFUTED and code is not None:
        lines.append(f"  The claim is refuted: more leaks than {code} declares, to the ledger too.")
    elif finding.verdict == REFUTED:
        lines.append(
            "  The claim is refuted: more leaks than was promised. The ledger charged for it."
        )
    elif finding.verdict == BROKEN:
        lines.append(
            "  More leaks than the ledger charged. "
            + (
                "Releases are not rounded here (privacy.grid = false): low bits of doubles leak."
                if not order.plan.resolved["privacy"]["grid"]
                else "That is a fault of hush: please report it."
            )
        )
    elif finding.power is None:
        lines.append(
            "  Not refuted: what a test of final models is worth is not known; the eavesdropper's is stronger."
            if finding.bound.statistic == MODELS and code is None
            else "  Not refuted: what this test is worth is not known, so that it proves nothing."
        )
    elif finding.power < 0.5:
        lines.append(
            "  Not refuted says little here: the test could hardly have told. "
            + (
                "More runs help."
                if finding.enough
                else "No number of runs up to a million would: losses this large, or in so many dimensions, do not show."
            )
        )
    else:
        lines.append(
            "  Not refuted: this test found nothing, which proves nothing beyond its power."
        )
    return lines


def _power(finding: Finding) -> str:
    """Return the power of the test, in words."""
    if finding.power is None:
        return "unknown: the statistic is not the exact loss"
    words = f"{percent(finding.power)} that exact losses of twice the claim would be refuted with so many runs"
    return words + (f"; 80 % with about 2 × {finding.enough:,}" if finding.enough else "")
