"""Draws the figures of errata.md from the library's own scenarios: `PYTHONPATH=. python docs/draw_errata.py` (2 minutes)."""

from pathlib import Path
from typing import Any

import matplotlib as mpl

mpl.use("Agg")
mpl.rcParams |= {"svg.fonttype": "none", "svg.hashsalt": "hush", "font.size": 9}
from matplotlib import pyplot as plt  # noqa: E402

from mechanisms.accounting.compose import by  # noqa: E402
from mechanisms.accounting.loss import Loss, Tally  # noqa: E402
from scenarios import run_sync  # noqa: E402
from scenarios.api.runs import make_plan  # noqa: E402
from scenarios.auditing.audit import Order, audit  # noqa: E402
from scenarios.auditing.kkt_attack import kkt  # noqa: E402

HERE = Path(__file__).parent / "errata"
INK, CLAIM, CHARGE = "#0072b2", "#d55e00", "#009e73"


def save(figure: Any, name: str) -> None:
    """Write one figure without what changes from day to day."""
    for axes in figure.axes:
        for side in ("top", "right"):
            axes.spines[side].set_visible(False)
    figure.savefig(HERE / f"{name}.svg", metadata={"Date": None})
    plt.close(figure)


def verdicts(
    name: str, rows: list[tuple[str, str]], runs: int, title: str, claim: float | None = None
) -> None:
    """Draw what is claimed (by the paper, where it is not what hush composes), audited and charged."""
    figure, axes = plt.subplots(figsize=(6.4, 0.75 + 0.55 * len(rows)), layout="constrained")
    for at, (label, scenario) in enumerate(reversed(rows)):
        order = Order(make_plan(f"errata/{scenario}"), runs)
        found = audit(order)
        axes.plot(
            [found.lower, found.charged],
            [at, at],
            color=INK,
            linewidth=5,
            alpha=0.25,
            solid_capstyle="butt",
        )
        axes.plot(found.lower, at, ">", color=INK, markersize=7)
        axes.plot(found.charged, at, "|", color=CHARGE, markersize=16, markeredgewidth=2.5)
        axes.plot(
            found.claimed if claim is None else claim,
            at,
            "x",
            color=CLAIM,
            markersize=8,
            markeredgewidth=2.5,
        )
        axes.text(0, at + 0.26, label, fontsize=8)
    for mark, colour, label in (
        ("x", CLAIM, "claimed"),
        (">", INK, "audited, at least"),
        ("|", CHARGE, "charged, at most"),
    ):
        axes.plot([], [], mark, color=colour, label=label, markeredgewidth=2)
    axes.set_yticks([])
    axes.set_ylim(-0.5, len(rows) - 0.2)
    axes.set_xlim(left=0)
    axes.set_xlabel(f"ε ({order.eyes} view, δ = {found.delta:g})")
    axes.set_title(f"{title} (2 × {runs:,} runs, 95 %)", fontsize=9, loc="left")
    axes.legend(frameon=False, fontsize=8, loc="center left", bbox_to_anchor=(1.0, 0.5))
    save(figure, name)


def composition() -> None:
    """E8: a hundred releases of 0.1 at δ = 1e-5, by who says what."""
    pure, laplace = Tally([(Loss("pure", 0.1), 100)]), Tally([(Loss("laplace", 0.1), 100)])
    rows = [
        ("Theorem 1 as printed", by("kov_printed", pure, 1e-5), CLAIM),
        ("Laplace noise in one dimension, exactly", by("pld", laplace, 1e-5), INK),
        ("any pure ε = 0.1, exactly", by("pld", pure, 1e-5), INK),
        ("Theorem 1 corrected", by("kov", pure, 1e-5), CHARGE),
    ]
    figure, axes = plt.subplots(figsize=(6.4, 2.0), layout="constrained")
    for at, (label, value, colour) in enumerate(reversed(rows)):
        axes.barh(at, value, color=colour, alpha=0.8, height=0.6)
        axes.text(value + 0.05, at, f"{value:.3f}", va="center", fontsize=8)
        axes.text(0.05, at, label, va="center", fontsize=8, color="white")
    axes.set_yticks([])
    axes.set_xlim(0, 6)
    axes.set_xlabel("ε of 100 releases of 0.1, δ = 1e-5")
    save(figure, "e08")


def schedules() -> None:
    """E10: the gap over time, both ways."""
    figure, axes = plt.subplots(figsize=(6.4, 2.6), layout="constrained")
    for label, scenario, colour in (
        ("shares that shrink, as printed", "e10-time-reversed-as-printed", CLAIM),
        ("shares that grow", "e10-time-reversed", INK),
    ):
        settings = {"run.sample_every": 2.0, "run.horizon": 120.0, "expect": []}
        columns = run_sync(f"errata/{scenario}", set=settings).metrics()
        rows = zip(columns["t"], columns["metric"], columns["value"], strict=True)
        at, gap = zip(*[(t, value) for t, metric, value in rows if metric == "gap"], strict=True)
        axes.plot(at, gap, color=colour, label=label)
    axes.set_yscale("log")
    axes.set_xlabel("simulated time (s)")
    axes.set_ylabel("gap (an oracle's view)")
    axes.legend(frameon=False, fontsize=8)
    axes.grid(alpha=0.25)
    save(figure, "e10")


def secrets() -> None:
    """E22: how far the attacker is from the record."""
    figure, axes = plt.subplots(figsize=(6.4, 2.2), layout="constrained")
    rows = []
    for label, scenario in (
        ("no noise, private η", "e22-secret-penalty"),
        ("noise, α = 1", "e22-penalty-noise"),
    ):
        found = kkt(make_plan(f"errata/{scenario}"))
        rows += [(f"{label}: {r.knows}", r.error) for r in found.recovered[:2]]
    for at, (label, error) in enumerate(reversed(rows)):
        axes.barh(
            at, error, left=1e-13, color=CLAIM if error < 1e-3 else CHARGE, alpha=0.8, height=0.6
        )
        axes.text(max(error, 1e-13) * 1.6, at, f"{label}: {error:.1g}", va="center", fontsize=8)
    axes.set_xscale("log")
    axes.set_xlim(1e-13, 1e7)
    axes.set_yticks([])
    axes.set_xlabel("distance to the true record, of length about 1")
    save(figure, "e22")


def main() -> None:
    """Draw all of them."""
    HERE.mkdir(exist_ok=True)

    def both(name: str, scenario: str, runs: int, title: str, other: str = "as-printed") -> None:
        words = "as printed" if other == "as-printed" else other
        rows = [(words, f"{scenario}-{other}"), ("corrected", scenario)]
        verdicts(name, rows, runs, title)

    both("e01", "e01-dvp-zeta", 2000, "DVP, one release, α = 1")
    both("e04", "e04-pvp-final-step", 600, "PVP with a final dual step")
    both("e05", "e05-weighted-average", 1000, "weighted descent, eight parties")
    both("e07", "e07-lipschitz-norm", 3000, "Laplace noise in 64 dimensions")
    verdicts(
        "e17",
        [("the final models; each release cost 1", "e17-composition")],
        600,
        "DVP, thirty releases of 1",
        claim=1.0,
    )
    both("e21", "e21-low-bits", 2000, "Laplace noise, α = 0.1", "unrounded")
    composition()
    schedules()
    secrets()


if __name__ == "__main__":
    main()
