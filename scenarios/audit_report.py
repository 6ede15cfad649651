"""What an audit found, in words, as a file, and as a picture."""

import json
import math
from pathlib import Path
from typing import Any

from scenarios.auditor import BROKEN, REFUTED, Finding, Order
from scenarios.values import figure, show

_INK, _CLAIM, _CHARGE = "#0072b2", "#d55e00", "#009e73"


def as_json(order: Order, found: Finding) -> dict[str, Any]:
    """Everything that the audit's folder holds."""
    rates = found.bound.rates
    return {
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
        "neighbours": {"how": order.how, "node": found.node, "what": found.words},
        "releases": found.releases,
        "curve": [
            {"releases": k, "audited": figure(a), "claimed": figure(c), "charged": figure(e)}
            for k, a, c, e in found.curve
        ],
    }


def in_words(order: Order, found: Finding) -> list[str]:
    """Tell a person: the verdict, all three numbers, and what the test was worth."""
    whose = f"{order.eyes} view, δ = {found.delta:g}"
    unit = f" (μ ≥ {found.bound.value:.4g})" if found.unit == "mu" else ""
    lines = [
        f"{order.plan.name} · {order.plan.kind} · seed {order.plan.seed} · {found.verdict}",
        f"  neighbours {found.words}; agent {found.node}, {found.releases} releases",
        f"  claimed    ε = {show(found.claimed)}   what the calibration promises ({whose})",
        f"  audited    ε ≥ {show(found.lower)}{unit}   from 2 × {order.runs:,} runs, at {100 * order.confidence:g} % "
        f"confidence, by: {found.bound.statistic or 'nothing'}",
        f"  charged    ε = {show(found.charged)}   what the ledger says (accountant: {found.accountant})",
        f"  power      {100 * found.power:.0f} % to refute losses of twice the claim with so many runs",
    ]
    if found.verdict == REFUTED:
        lines.append(
            "  The claim is refuted: more leaks than was promised. The ledger charged for it."
        )
    elif found.verdict == BROKEN:
        lines.append(
            "  More leaks than the ledger charged. "
            + (
                "Releases are not rounded here (privacy.grid = false): low bits of doubles leak."
                if not order.plan.resolved["privacy"]["grid"]
                else "That is a fault of hush, or of code of the scenario's own: please report it."
            )
        )
    elif found.power < 0.5:
        lines.append(
            "  Not refuted says little here: the test could hardly have told. More runs, a larger ε or fewer dimensions help."
        )
    else:
        lines.append(
            "  Not refuted: this test found nothing, which proves nothing beyond its power."
        )
    return lines


def write(order: Order, found: Finding, out: Path) -> None:
    """Write the finding, and a picture where there is something to draw."""
    text = json.dumps(as_json(order, found), indent=2, ensure_ascii=False)
    (out / "audit.json").write_text(text + "\n", encoding="utf-8")
    if found.curve:
        _draw(order, found, out / "audit.png")


def _draw(order: Order, found: Finding, out: Path) -> None:
    """Draw the audited lower bound and the accounted upper bound against the number of releases."""
    import matplotlib as mpl  # 120 ms, only here

    mpl.use("Agg")
    from matplotlib import pyplot as plt

    at, audited, claimed, charged = zip(*found.curve, strict=True)
    figure_, axes = plt.subplots(figsize=(7, 4), layout="constrained")
    mark = "o" if len(at) < 4 else None
    for values, colour, style, label in (
        (charged, _CHARGE, "-", f"charged: at most ({found.accountant})"),
        (claimed, _CLAIM, "--", "claimed by the calibration"),
        (audited, _INK, "-", f"audited: at least ({100 * order.confidence:g} % each)"),
    ):
        shown = [v if math.isfinite(v) else math.nan for v in values]
        axes.plot(at, shown, style, color=colour, label=label, marker=mark)
    axes.fill_between(
        at,
        audited,
        [v if math.isfinite(v) else a for v, a in zip(charged, audited, strict=True)],
        color=_CHARGE,
        alpha=0.08,
        linewidth=0,
    )
    axes.set_ylim(bottom=0)
    axes.set_xlabel("releases of the audited agent")
    axes.set_ylabel(f"ε ({order.eyes} view, δ = {found.delta:g})")
    axes.set_title(f"{order.plan.name}, {order.plan.kind}: {found.verdict}")
    axes.grid(alpha=0.25)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    axes.legend(frameon=False)
    figure_.savefig(out, dpi=150)
    plt.close(figure_)
