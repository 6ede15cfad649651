"""The verb `tradeoff`: how the loss falls with ε in a sweep, and which ε is best for a stated utility of privacy."""

import argparse
import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

from scenarios.language.problems import ScenarioError, nearest
from scenarios.language.visible_text import say, say_json
from scenarios.planning.metric_names import nearest_metric

if TYPE_CHECKING:
    from mechanisms.tradeoff import Best, Fit, PrivacyUtility
    from scenarios.records.sweep_record import SweepRecord

_POINTS = 120


def perform(chosen: argparse.Namespace) -> int:
    """Fit the losses of a sweep, find α*, print both, and draw them where a file is named."""
    from mechanisms.tradeoff import NoFit, PrivacyUtility, best, fit

    record = chosen.folders.sweep(chosen.sweep)
    axis = _axis(record, chosen.axis)
    values = _values(record, axis, chosen)
    try:
        utility = PrivacyUtility(*_numbers(chosen.omega))
        means = [math.fsum(each.values()) / len(each) for each in values.values()]
        curve = fit(list(values), means)
        low = chosen.low if chosen.low is not None else min(values)
        high = chosen.high if chosen.high is not None else max(values)
        most = math.inf if chosen.most_loss is None else chosen.most_loss
        found = best(curve, utility, low, high, most)
    except NoFit as error:
        raise ScenarioError.of("", str(error)) from None
    own = _of_each_seed(values, utility, (low, high, most))
    figures = _figures(record, axis, chosen.metric, values, curve, found, own)
    if chosen.out:
        _draw(Path(chosen.out), figures, curve, found)
    if chosen.json:
        say_json(figures)
    else:
        say(*_in_words(figures, utility))
        if chosen.out:
            say(chosen.out)
    return 0


def _numbers(text: str) -> tuple[float, ...]:
    try:
        numbers = tuple(float(part) for part in text.split(","))
    except ValueError:
        numbers = ()
    if len(numbers) != 4 or not all(n == 0 or 1e-9 <= n <= 1e9 for n in numbers):
        said = f"must be four numbers such as 0.02,6,9,1, each 0 or from 1e-9 to 1e9, got {text}"
        raise ScenarioError.of("--omega", said)
    return numbers


def _axis(record: "SweepRecord", wanted: str | None) -> str:
    """Return the axis whose values are α: the one that was named, else the only one that is of ε."""
    names = [column for axis in record.axes for column in axis.columns]
    if wanted is not None:
        if wanted not in names:
            raise ScenarioError.of("--axis", f"'{wanted}' does not vary; {nearest(wanted, names)}")
        return wanted
    own = [n for n in names if n.endswith((".alpha", ".epsilon", "epsilon_features"))]
    if len(own) != 1:
        said = f"say by --axis which axis is ε; there are {', '.join(names) or 'none'}"
        raise ScenarioError.of("--axis", said)
    return own[0]


def _values(
    record: "SweepRecord", axis: str, chosen: argparse.Namespace
) -> dict[float, dict[int, float]]:
    """Return the metric of each seed at each value of the axis, in growing order."""
    from scenarios.command.option_values import settings
    from scenarios.reproduction.evidence import is_named

    only = settings(chosen.only, "--only")
    columns = [column for one in record.axes for column in one.columns]
    for key in only:
        if key not in columns:
            raise ScenarioError.of("--only", f"'{key}' does not vary; {nearest(key, columns)}")
    rows = [
        row
        for row in record.chosen
        if row.is_finished and all(is_named(row.settings.get(k), v) for k, v in only.items())
    ]
    if not rows:
        raise ScenarioError.of("", f"{record.path} has no finished run with these settings")
    if chosen.metric not in record.manifest.metrics:
        hint = nearest_metric(chosen.metric, record.manifest.metrics, any_fold=False)
        raise ScenarioError.of("--metric", f"the table has no '{chosen.metric}'; {hint}")
    found: dict[float, dict[int, float]] = {}
    for row in rows:
        label = row.settings[axis]
        if isinstance(label, (bool, str)):
            raise ScenarioError.of("--axis", f"'{axis}' has values that are no numbers: {label}")
        if row.seed in found.get(float(label), {}):
            others = [c for a in record.axes for c in a.columns if c != axis]
            said = f"several settings have one value of {axis}: narrow down {', '.join(others)} by --only KEY=VALUE"
            raise ScenarioError.of("--only", said)
        if row.verdict == "diverged":
            said = f"agents diverged at {axis} = {label}, seed {row.seed}: leave that value out of the sweep"
            raise ScenarioError.of("", said)
        found.setdefault(float(label), {})[row.seed] = row.metrics[chosen.metric]
    return {alpha: found[alpha] for alpha in sorted(found)}


def _of_each_seed(
    values: dict[float, dict[int, float]],
    utility: "PrivacyUtility",
    bounds: tuple[float, float, float],
) -> list[float]:
    """Return α* of each seed that every α has, alone; those for which there is none are left out."""
    from mechanisms.tradeoff import NoFit, best, fit

    found = []
    for seed in sorted(set.intersection(*(set(each) for each in values.values()))):
        try:
            curve = fit(list(values), [each[seed] for each in values.values()])
            found.append(best(curve, utility, *bounds).alpha)
        except NoFit:
            continue
    return found


def _figures(
    record: "SweepRecord",
    axis: str,
    metric: str,
    values: dict[float, dict[int, float]],
    curve: "Fit",
    found: "Best",
    own: list[float],
) -> dict[str, Any]:
    from scenarios.records.intervals import interval

    low, _, high = interval(own, 0.95) if len(own) > 2 else (None, None, None)
    return {
        "sweep": record.manifest.name,
        "axis": axis,
        "metric": metric,
        "points": {f"{alpha:g}": list(each.values()) for alpha, each in values.items()},
        "fit": {
            "c4": curve.c4,
            "c5": curve.c5,
            "c6": curve.c6,
            "explained": curve.explained,
            "error": curve.error,
            "at_edge": curve.at_edge,
        },
        "best": {
            "alpha": found.alpha,
            "objective": found.objective,
            "inside": found.is_inside,
            "low": found.low,
            "high": found.high,
            "minima": list(found.minima),
            "maxima": list(found.maxima),
            "seeds": own,
            "interval": [low, high],
        },
    }


def _in_words(figures: dict[str, Any], utility: "PrivacyUtility") -> list[str]:
    curve, found = figures["fit"], figures["best"]
    points = figures["points"]
    lines = [
        f"{figures['sweep']}: {figures['metric']} against {figures['axis']}, {len(points)} values",
        f"  L_acc(α) = {curve['c4']:.4g}·e^(−{curve['c5']:.4g}·α) + {curve['c6']:.4g}",
        f"  the curve explains {curve['explained']:.1%} of the variance of the means (R²), with a root mean square error of {curve['error']:.3g}",
    ]
    if curve["at_edge"]:
        lines.append(
            "  the points do not determine c₅: it is at the end of its range. Take α between those that were run"
        )
    elif curve["explained"] < 0.9:
        lines.append("  that is a poor fit: look at the picture (--out) before α* is believed")
    lines += [
        f"  U_priv(α) = {utility.omega1:g}·ln({utility.omega2:g}/({utility.omega3:g}·α + {utility.omega4:g}·α²))",
        f"  α* = {found['alpha']:.4g} minimises J = L_acc − U_priv between {found['low']:.4g} and {found['high']:.4g}: J = {found['objective']:.4g}",
    ]
    if not found["inside"]:
        lines.append(
            "  it is an end of the range, not a stationary point: with another range there is another α*"
        )
    if None not in found["interval"]:
        lines.append(
            f"  over the {len(found['seeds'])} seeds one by one: {found['interval'][0]:.4g} to {found['interval'][1]:.4g} (95 % t-interval)"
        )
    lines.append(
        "  α is the axis as the scenario has it: the ε of one release where it is mechanism.alpha, of all releases where it is a "
        "budget. A fit that reads losses reads data: no ε covers the choice"
    )
    return lines


def _draw(out: Path, figures: dict[str, Any], curve: "Fit", found: "Best") -> None:
    from scenarios.pictures.draw import canvas

    loaded = canvas()
    from scenarios.pictures.lines import Axes, DrawnLine, Mark, draw_lines
    from scenarios.reproduction.figure import Points, line

    points = [Points(float(alpha), each) for alpha, each in figures["points"].items()]
    seen = line("measured", points)
    least, most = found.low, max(found.high, *seen.x)
    steps = [least * (most / least) ** (k / (_POINTS - 1)) for k in range(_POINTS)]
    fitted = [curve.loss(alpha) for alpha in steps]
    lines = [
        DrawnLine(seen.label, seen.x, seen.mean, seen.low, seen.high),
        DrawnLine(f"fit, R² = {curve.explained:.3f}", steps, fitted, fitted, fitted),
    ]
    star = Mark(f"α* = {found.alpha:.3g}", curve.loss(found.alpha), found.alpha)
    axes = Axes(figures["axis"], figures["metric"], "x")
    loaded.save(
        draw_lines(
            f"{figures['sweep']}: the design of a budget",
            axes,
            lines,
            [star],
            ("95 % t-intervals over seeds",),
        ),
        out,
    )
