"""Recording → pictures; never touches a live world."""

import math
from pathlib import Path
from typing import Any

import numpy as np

from mechanisms.vectors import Vector
from scenarios.auditor import Finding, Order
from scenarios.folder import FolderError
from scenarios.metric_names import split_metric
from scenarios.problem import nearest
from scenarios.result import Result
from scenarios.saying import visible
from scenarios.values import number

_INK, _CLAIM, _CHARGE = "#0072b2", "#d55e00", "#009e73"
_LABELS = {
    "time": "simulated time (s)",
    "releases": "releases, all agents",
    "bytes": "bytes sent",
}


def draw(run: Path, what: str, x: str, out: str | None) -> Path:
    """Draw a sampled metric: its mean over nodes, and where 80 % of them lie."""
    result = Result(run)
    try:
        samples = list(result.samples())
    except (ValueError, KeyError, TypeError) as error:
        raise FolderError(f"{run} is damaged: {error}") from None
    if not samples:
        raise FolderError(f"{run} holds no samples to draw")
    what = split_metric(what)[0]
    if what not in samples[-1]["values"]:
        known = nearest(what, samples[-1]["values"])
        raise FolderError(f"'{what}' was not sampled in this run; {known}")
    samples = [s for s in samples if what in s["values"]]
    return _picture(result, samples, what, x, Path(out) if out else run / f"{what}.png")


def _folds(values: Any) -> tuple[float, float, float]:
    if not isinstance(values, list):
        return (number(values),) * 3
    known = np.array([number(v) for v in values])
    known = known[np.isfinite(known)]
    if not known.size:
        return (np.nan,) * 3
    return float(known.mean()), float(np.percentile(known, 10)), float(np.percentile(known, 90))


def _axis(samples: list[dict[str, Any]], x: str) -> Vector:
    match x:
        case "time":
            return np.array([s["t"] / 1e9 for s in samples])
        case "releases":
            return np.array([sum(s["values"]["releases"]) for s in samples], dtype=float)
        case "bytes":
            return np.array([number(s["values"]["bytes.sent"]) for s in samples])
        case "epsilon":
            return np.array([max(map(number, s["values"]["epsilon"])) for s in samples])
        case _:
            raise NotImplementedError(f"nothing is drawn against {x!r}")


def _picture(result: Result, samples: list[dict[str, Any]], what: str, x: str, out: Path) -> Path:
    import matplotlib as mpl  # 120 ms, only here

    mpl.use("Agg")
    from matplotlib import pyplot as plt

    middle, low, high = np.array([_folds(s["values"][what]) for s in samples]).T
    at = _axis(samples, x)
    if not np.isfinite(middle).any() or not np.isfinite(at).any():
        raise FolderError(f"'{what}' against {x} has no finite value in this run")
    figure, axes = plt.subplots(figsize=(7, 4), layout="constrained")
    per_node = isinstance(samples[-1]["values"][what], list)
    if per_node:
        axes.fill_between(
            at, low, high, color=_INK, alpha=0.2, linewidth=0, label="80 % of the agents"
        )
    axes.plot(at, middle, color=_INK, label="mean" if per_node else _written(what))
    if what.startswith("gap") and (middle > 0).all():
        axes.set_yscale("log")
    epsilon = result.summary.get("epsilon", {})
    terms = f"{epsilon.get('view', '?')} view, δ = {epsilon.get('delta', '?')}, {epsilon.get('accountant', '?')}"
    axes.set_xlabel(_LABELS.get(x, _written(f"largest ε ({terms})")))
    axes.set_ylabel(_written(f"ε ({terms})" if what.startswith("epsilon") else what + _whose(what)))
    told = f"{result.manifest['scenario']}, seed {result.manifest['seed']}: {result.status}"
    axes.set_title(_written(told))
    axes.grid(alpha=0.25)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    if per_node:
        axes.legend(frameon=False)
    try:
        figure.savefig(out, dpi=150)
    except ValueError as error:
        raise FolderError(f"{out}: {error}") from None
    finally:
        plt.close(figure)
    return out


def _written(text: str) -> str:
    """Return a text as a picture shows it: invisible characters spelled out, and a dollar no formula."""
    return visible(text).replace("$", r"\$")


def _whose(what: str) -> str:
    oracle = ("loss", "accuracy", "rmse", "gap", "objective", "gain")
    return " (an oracle's view)" if what.startswith(oracle) else ""


def draw_audit(order: Order, found: Finding, out: Path) -> None:
    """Draw the audited lower bound and the accounted upper bound against the number of releases."""
    import matplotlib as mpl

    mpl.use("Agg")
    from matplotlib import pyplot as plt
    from matplotlib.ticker import MaxNLocator

    at, audited, claimed, charged = zip(*found.curve, strict=True)
    figure_, axes = plt.subplots(figsize=(7, 4), layout="constrained")
    mark = "o" if len(at) < 4 else None
    for values, colour, style, label in (
        (charged, _CHARGE, "-", f"charged: at most ({found.accountant})"),
        (claimed, _CLAIM, "--", "claimed by the calibration"),
        (audited, _INK, "-", f"audited: at least ({100 * order.confidence:g} % at each point)"),
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
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    axes.set_xlim(0, max(at) * 1.05 + 0.2)
    axes.set_ylabel(f"ε ({order.eyes} view, δ = {found.delta:g})")
    axes.set_title(f"{order.plan.name}, {order.plan.kind}: {found.verdict}")
    axes.grid(alpha=0.25)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    axes.legend(frameon=False)
    figure_.savefig(out, dpi=150)
    plt.close(figure_)
