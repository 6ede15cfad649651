"""The verb `bounds`: the papers' bounds for a scenario, with what they assume."""

import argparse
from typing import TYPE_CHECKING, Any

from scenarios.command.option_values import plan_of, scenario_of
from scenarios.language.problems import ScenarioError
from scenarios.language.visible_text import say, say_json
from scenarios.planning.mechanism import MECHANISMS, in_order

if TYPE_CHECKING:
    from scenarios.planning.plan import Plan

_WAKES = (1, 2, 5, 10, 20, 50, 100, 200, 500)
"""Wakes of each agent, on average, for which bounds are computed where the options name none."""
_WITHOUT_NOISE = 3
"""The theorem that needs no α."""


def perform(chosen: argparse.Namespace) -> int:
    """Print the bounds of a scenario's mechanism."""
    from scenarios.planning.descent_bounds import is_descent

    plan = plan_of(chosen, scenario_of(chosen, chosen.scenario))
    theorems = MECHANISMS[plan.kind].enough_points if plan.kind in MECHANISMS else ()
    if theorems:
        _refuse(chosen, ("wakes",), plan.kind)
        figures = _of_samples(plan, theorems, chosen)
        lines = _samples_in_words(figures)
    elif is_descent(plan):
        _refuse(chosen, ("norm", "error", "alpha"), plan.kind)
        figures = _of_descent(plan, tuple(chosen.wakes) or _WAKES)
        lines = _descent_in_words(figures)
    else:
        known = ", ".join(["cd", *(kind.name for kind in in_order() if kind.enough_points)])
        raise ScenarioError.of("mechanism.kind", f"no bounds are known of {plan.kind}; of {known}")
    if chosen.json:
        say_json(figures)
    else:
        say(*lines)
    return 0


def _refuse(chosen: argparse.Namespace, names: tuple[str, ...], kind: str) -> None:
    """Raise `ScenarioError` for options that mean nothing to the bounds of a kind."""
    for name in names:
        if getattr(chosen, name):
            raise ScenarioError.of(f"--{name}", f"does not belong to the bounds of {kind}")


def _of_descent(plan: "Plan", wakes: tuple[int, ...]) -> dict[str, Any]:
    from mechanisms.bounds import noise_error, optimisation_error, printed_noise_error, shares
    from scenarios.planning.descent_bounds import descent_facts

    facts = descent_facts(plan)
    world = facts.world
    rows = []
    most = facts.releases
    for each in (n for n in wakes if most is None or n <= most):
        total = each * world.agents
        rows.append(
            {
                "wakes_each": each,
                "optimisation": optimisation_error(world, facts.gap, total),
                "noise": noise_error(world, facts.energies.tolist(), total),
                "noise_printed": None
                if facts.scales is None
                else printed_noise_error(world, facts.scales.tolist(), total),
            }
        )
    count = facts.releases
    return {
        "scenario": plan.name,
        "agents": world.agents,
        "dimension": world.dimension,
        "convexity": world.convexity,
        "largest_block": float(world.blocks.max()),
        "smallest_block": float(world.blocks.min()),
        "contraction": world.contraction,
        "gap_at_start": facts.gap,
        "releases": count,
        "rows": rows,
        "schedule": None
        if count is None
        else {
            "of": "μ" if facts.unit == "mu" else "ε",
            "name": plan.resolved["mechanism"].get("schedule", "uniform"),
            "planned": [charge / sum(facts.planned) for charge in facts.planned],
            "corrected": shares(world, count, power=0.25 if facts.unit == "mu" else 1 / 3).tolist(),
            "printed": shares(world, count, printed=True).tolist(),
        },
    }


def _descent_in_words(figures: dict[str, Any]) -> list[str]:
    lines = [
        f"{figures['scenario']}: coordinate descent, {figures['agents']} agents, dimension {figures['dimension']}",
        f"  σ = {figures['convexity']:.4g}, L_max = {figures['largest_block']:.4g}, L_min = {figures['smallest_block']:.4g}: each wake "
        f"keeps C = {figures['contraction']:.8g} of the gap in the mean",
        f"  gap at the start {figures['gap_at_start']:.4g} (an oracle's number: it is made of data)",
        "",
        "  wakes each   optimisation (Prop. 1)   noise (Theorem 2, with d: E9)   together   noise as printed",
    ]
    rows = figures["rows"]
    for row in rows:
        printed = "–" if row["noise_printed"] is None else f"{row['noise_printed']:.4g}"
        together = row["optimisation"] + row["noise"]
        lines.append(
            f"  {row['wakes_each']:>10}   {row['optimisation']:>22.4g}   {row['noise']:>29.4g}   {together:>8.4g}   {printed}"
        )
    if rows:
        best = min(rows, key=lambda row: row["optimisation"] + row["noise"])
        lines.append(
            f"  smallest bound of these at {best['wakes_each']} wakes each, with noise of the scale that this scenario has"
        )
    if figures["releases"] is not None:
        lines.append(
            f"  after {figures['releases']} releases nothing is released any more, and no bound is given"
        )
    lines += [
        "",
        "  assumes: i.i.d. Poisson clocks, no latency and no loss, every wake a release with the noise of the first one, σ ≥ min "
        "μD_ii c_i·2λ_i,",
        "  smoothness from public bounds where there is noise. Latency, loss, churn and other schedules are not covered.",
    ]
    if figures["schedule"] is not None:
        lines += ["", *_schedule_in_words(figures["schedule"], figures["releases"])]
    return lines


def _schedule_in_words(schedule: dict[str, Any], count: int) -> list[str]:
    shown = sorted(
        k for k in {1, 2, count // 4, count // 2, 3 * count // 4, count} if 0 < k <= count
    )
    lines = [
        f'  the share of {schedule["of"]} of release k of {count}: as planned (schedule = "{schedule["name"]}"), and by Proposition 2 '
        '(schedule = "growing"; printed of ε, reversed: E10)',
        "  release   " + " ".join(f"{k:>9}" for k in shown),
    ]
    for name in ("planned", "corrected", "printed"):
        values = " ".join(f"{schedule[name][k - 1]:>9.3g}" for k in shown)
        lines.append(f"  {name:<10}{values}")
    return lines


def _of_samples(
    plan: "Plan", theorems: tuple[int, ...], chosen: argparse.Namespace
) -> dict[str, Any]:
    from mechanisms.bounds import Accuracy, sample_sizes

    table = plan.resolved["mechanism"]
    missing = [f"--{name}" for name in ("norm", "error") if getattr(chosen, name) is None]
    if missing:
        said = f"the theorems need {' and '.join(missing)}: ‖f⁰‖ of a reference model, and how much worse than it is good enough"
        raise ScenarioError.of(missing[0], said)
    alpha = chosen.alpha if chosen.alpha is not None else _alpha(table)
    if alpha is not None and alpha > 1:
        raise ScenarioError.of(
            "--alpha", f"the theorems are proved for α of at most 1, got {alpha:g}"
        )
    private = max(theorems) > _WITHOUT_NOISE
    if alpha is None and private:
        raise ScenarioError.of("--alpha", "give the ε of one release: the scenario states none")
    degrees = [len(node.neighbours) for node in plan.nodes]
    given = Accuracy(
        norm=chosen.norm,
        error=chosen.error,
        failure=chosen.failure,
        dimension=plan.dimension,
        weight=float(table["C"]),
        alpha=alpha or 1.0,
        bend=plan.loss.curvature_bound,
        penalty=float(table["eta"]),
        degree=max(degrees),
    )
    sizes = [objective.points for objective in plan.objectives]
    return {
        "scenario": plan.name,
        "kind": plan.kind,
        "norm": given.norm,
        "error": given.error,
        "failure": given.failure,
        "dimension": given.dimension,
        "weight": given.weight,
        "alpha": given.alpha if private else None,
        "penalty": given.penalty,
        "degree": given.degree,
        "points": {"least": min(sizes), "most": max(sizes)},
        "theorems": {str(number): sample_sizes(number, given) for number in theorems},
    }


def _alpha(table: dict[str, Any]) -> float | None:
    alpha = table.get("alpha")
    if isinstance(alpha, dict):
        alpha = alpha["start"]
    return None if alpha is None else float(alpha)


def _samples_in_words(figures: dict[str, Any]) -> list[str]:
    alpha = "" if figures["alpha"] is None else f", α = {figures['alpha']:g}"
    lines = [
        f"{figures['scenario']}: {figures['kind']}, dimension {figures['dimension']}, C = {figures['weight']:g}, η = "
        f"{figures['penalty']:g}, up to {figures['degree']} neighbours{alpha}",
        f"  ‖f⁰‖ = {figures['norm']:g}, α_acc = {figures['error']:g}, failure probability δ = {figures['failure']:g} (not that of privacy)",
    ]
    for number, terms in figures["theorems"].items():
        most = max(terms, key=terms.__getitem__)
        lines += ["", f"  Theorem {number}: B > β × {terms[most]:.4g}"]
        lines += [
            f"    {value:>12.4g}  {name}{'   ← decides' if name == most else ''}"
            for name, value in terms.items()
        ]
    points = figures["points"]
    lines += [
        "",
        f"  the agents have {points['least']:,} to {points['most']:,} points",
        "  β is a constant that the paper does not name: compare settings by these numbers, not points with them.",
        "  assumes: the paper's Assumptions 1 to 5, ρ ≈ α_acc/‖f⁰‖², every α ≤ 1, noise as printed; C^B of Theorem 6 is read as C^R.",
    ]
    return lines
