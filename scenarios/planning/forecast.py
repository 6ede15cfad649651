"""What a plan will cost, before it runs: size, ε by group and accountant, noise against step."""

import math
from collections.abc import Iterable
from typing import Any

import numpy as np

from actors.faults.schedule import Fault
from clocks.activation import Synchronous
from clocks.durations import Constant, Duration
from mechanisms.abilities import HasCosts, HasSchedule, MeasuresNoise, openings_of
from mechanisms.accounting.compose import SLOW, TIGHTEST
from mechanisms.accounting.disclosure import Reader, epsilon_of, largest_of_all, side_by_side
from mechanisms.accounting.loss import Case, Tally
from mechanisms.accounting.spend import SCALES, Spend
from mechanisms.accounting.views import add_in
from mechanisms.admm import Alternating
from mechanisms.guards import Open
from mechanisms.mixing import Heard
from mechanisms.strategy import Mechanism
from mechanisms.vectors import median
from mechanisms.warm_start import WarmDescent
from scenarios.language.json_numbers import declared_by, figure, number, self_declared
from scenarios.language.null_reasons import UNCALIBRATED, UNDECLARED, with_reasons
from scenarios.language.visible_text import UNWRAPPED, hung
from scenarios.planning.metric_names import metrics_of
from scenarios.planning.plan import NodePlan, Plan
from scenarios.planning.run_size import extent
from scenarios.planning.seeds import draws
from scenarios.planning.topologies import TOPOLOGIES, OfDataTable

_LARGEST = 50
"""Of so many different ledgers of a group, the numerical total of the largest is computed, too."""
_ROUNDING = 1e-4
_MIXES = frozenset({"personalised", "consensus"})
"""The families whose agents take over what neighbours send."""
_RELATED = 0.5
"""The least mean cosine between the tasks of neighbours that passes without a warning."""
_UNUSED = 0.1
"""The share of a budget that an accountant may leave before a warning."""


_AT_RUN = "only the run can tell"
_WHY_NULL = {
    "expected.*": f"{_AT_RUN}; of code of the scenario's own how often it derives is not known",
    "groups.*.rate": _AT_RUN,
    "fault_first_s.*": "an event decides when, or it does not come before the run ends",
    "groups.*.releases": "every wake makes one: no number is planned",
    "groups.*.cap": "no budget was given: no cap",
    "groups.*.epsilon*": _AT_RUN,
    "declared_by": UNDECLARED,
    "groups.*.calibration": "the corrected calibration keeps what it claims",
    "calibrated": UNCALIBRATED,
    "groups.*.noise_to_step": "no noise enters a step, or no agent has a neighbour",
}
"""Why figures of a forecast may be missing, by patterns of their places."""


def forecast(plan: Plan) -> dict[str, Any]:
    """Return the figures of a plan, as JSON: those of the keys of `_WHY_NULL` may be None, then `null_reasons` says why."""
    expected, code = extent(plan), declared_by(plan.kind)
    declared = None if code is None else self_declared(code)  # it stands at each group
    groups = [_group(plan, name, ids) for name, ids in plan.groups.items()]
    firsts = [
        fault.timing.first(draws(plan.seeds["fault"], fault.luck), plan.horizon)
        for fault in plan.faults
    ]
    figures = {
        "scenario": plan.name,
        "seed": plan.seed,
        "mechanism": plan.kind,
        "nodes": plan.size,
        "edges": plan.size if plan.server is not None else len(plan.graph.weights),
        "dimension": plan.dimension,
        "points": {"min": min(plan.shards.sizes), "max": max(plan.shards.sizes)},
        "expected": {
            "updates": figure(expected.updates),
            "messages": figure(expected.messages),
            "samples": figure(expected.samples),
            "bytes": figure(expected.messages * 8 * plan.dimension),
            "events_file_bytes": figure(expected.bytes),
        },
        "view": plan.privacy.view,
        "declared_by": code,
        "groups": groups,
        "faults": len(plan.faults),
        "fault_list": [
            _fault(fault, first) for fault, first in zip(plan.faults, firsts, strict=True)
        ],
        "fault_first_s": [None if first is None else first / 1e9 for first in firsts],
        "notes": list(plan.notes),
        "calibrated": plan.privacy.calibrated,
        "warnings": [
            *plan.warnings,
            *(f"not covered: {reason}" for reason in plan.uncovered if reason != declared),
            *_timing(plan),
            *_unreached(plan, groups),
            *_unmeasured(plan),
            *_unused(plan, groups),
            *_above_caps(plan, groups),
            *_unrelated(plan),
        ],
    }
    return with_reasons(figures, _WHY_NULL)


def _unmeasured(plan: Plan) -> list[str]:
    """Warn where a metric is asked for that will have no value."""
    return [
        f"{name} will have no value: {why}"
        for name in sorted(plan.asked)
        for metric in metrics_of([name]).values()
        for need in metric.needs
        if (why := need.before(plan))
    ]


def _releases(plan: Plan, node: NodePlan) -> tuple[Spend, ...] | None:
    """Return all releases of one agent, with what each costs; None where their number is not known."""
    mechanism, degree = node.mechanism, len(node.neighbours)
    if not isinstance(mechanism, HasSchedule):
        return () if mechanism.planned == 0 else None
    spends = mechanism.schedule(degree)
    if (
        spends is None and isinstance(mechanism, HasCosts) and _goes_on(mechanism)
    ):  # the ε that follows from the wakes to expect
        expected = plan.expected_updates() / plan.size
        if not math.isnan(expected):  # at a barrier only the run can tell: no bound, then
            most = min(math.ceil(expected), 100_000)
            spends = mechanism.costs(degree, most)
    return spends


def _goes_on(mechanism: Mechanism) -> bool:
    """Whether it is private and has no planned end: pp with given noise."""
    return isinstance(mechanism, Alternating) and not isinstance(mechanism.guard, Open)


def _group(plan: Plan, name: str, ids: tuple[int, ...]) -> dict[str, Any]:
    nodes = [plan.nodes[i] for i in ids]
    spends = [_releases(plan, node) for node in nodes]
    worst, by, all_ways = _epsilons(plan, nodes, spends)
    each = {id(spend): spend for some in spends if some for spend in some}.values()
    dearest = max(each, key=_excess, default=None)
    ratios = [r for r in (_ratio(plan, node) for node in nodes[:64]) if r is not None]
    rates = [node.activation.rate for node in nodes]
    return {
        "name": name,
        "count": len(ids),
        "clock": type(nodes[0].activation).__name__.lower(),
        "rate": figure(float(np.mean(rates))),
        "releases": nodes[0].mechanism.planned,
        "epsilon": figure(worst),
        "accountant": by,
        "delta": nodes[0].delta,
        "cap": None if nodes[0].cap is None else nodes[0].cap.epsilon,
        "epsilon_by": {k: figure(v) for k, v in all_ways.items()},
        "calibration": None if dearest is None else _consequence(dearest),
        "noise": _noises(each),
        "noise_to_step": figure(median(np.array(ratios))) if ratios else None,
    }


def _noises(spends: Iterable[Spend]) -> list[dict[str, Any]]:
    """Return the scale of each law of noise, smallest and largest of all releases, and what it means."""
    scales: dict[str, list[float]] = {}
    for spend in spends:
        scales.setdefault(spend.law, []).append(spend.scale)
    return [
        {
            "law": law,
            "scale": {"min": figure(min(values)), "max": figure(max(values))},
            "unit": SCALES[law],
        }
        for law, values in scales.items()
        if law != "none"
    ]


def _epsilons(
    plan: Plan, nodes: list[NodePlan], spends: list[tuple[Spend, ...] | None]
) -> tuple[float, str, dict[str, float]]:
    """Return the largest ε of a group, the accountant that it is by, and the largest under every accountant."""
    privacy, bags = plan.privacy, dict[tuple[Case, float], Tally]()
    for node, some in zip(nodes, spends, strict=True):
        if some is None:
            return math.inf, "none", {"basic": math.inf}
        bag = add_in(privacy.view, Tally(), some)
        bags[bag.case, node.delta] = bag
    worst, by, all_ways = 0.0, "", list[dict[str, float]]()
    largest = sorted(bags, key=lambda case: -bags[case].sums.pure - bags[case].sums.mu_squares)
    for place, (key, delta) in enumerate(largest):
        bag, but = bags[key, delta], SLOW if place >= _LARGEST else ()
        reader = Reader(privacy.view, privacy.accountant, delta, adaptive=privacy.adaptive)
        if len(bag):
            all_ways.append(side_by_side(bag, reader, but=but))
        epsilon, accountant = epsilon_of(bag, reader, but=but)
        if epsilon >= worst:
            worst, by = epsilon, accountant
    return worst, by, largest_of_all(all_ways)


def _excess(spend: Spend) -> float:
    return spend.charged / spend.claimed if spend.claimed else math.inf


def _consequence(spend: Spend) -> str | None:
    """What a release costs beside what its calibration claims, in words."""
    if spend.calibration != "as_printed":
        return None
    unit = "μ = " if spend.law == "gaussian" else ""
    charged, claimed = f"{unit}{spend.charged:.3g}", f"{unit}{spend.claimed:.3g}"
    if spend.charged <= spend.claimed * (1 + 1e-4):
        return f"as printed, each release costs at most {charged}, and claims {claimed}: the claim holds"
    return f"as printed, each release costs up to {charged}, not the {claimed} that it claims"


def _ratio(plan: Plan, node: NodePlan) -> float | None:
    """Return the expected norm of the noise's effect over that of the first noiseless step; None where there is none."""
    mechanism = node.mechanism
    if not isinstance(mechanism, MeasuresNoise) or not node.neighbours:
        return None
    if plan.server is None:
        around, state = plan.starts()[list(node.neighbours)], mechanism.begin(node.start)
    else:
        around, state = plan.server.start[None], plan.server.start  # a client's state is the model
    rows = openings_of(mechanism, around)
    return mechanism.noise_to_step(state, Heard(rows, node.weights), 0) or None


def _unused(plan: Plan, groups: list[dict[str, Any]]) -> list[str]:
    """Warn where an accountant that the file names turns a budget into more noise than it asks for."""
    named, mechanism = plan.resolved["privacy"]["calibrate"], plan.resolved["mechanism"]
    noise_is_given = mechanism.get("alpha") is not None or isinstance(mechanism.get("noise"), dict)
    if plan.privacy.calibrated is not None or named == TIGHTEST or noise_is_given:
        return []
    warnings = []
    for group in groups:
        cap, epsilon = group["cap"], number(group["epsilon"])
        if cap is not None and 0 < epsilon < (1 - _UNUSED) * cap:
            warnings.append(
                f'privacy.calibrate = "{named}" leaves {100 * (1 - epsilon / cap):.0f} % of the budget of '
                f'{group["name"]} unused: ε = {epsilon:.4g} of {cap:g}; "tightest" adds less noise'
            )
    return warnings


def _above_caps(plan: Plan, groups: list[dict[str, Any]]) -> list[str]:
    """Warn where the accountant that a file names shows more than the cap, which another one holds."""
    asked = plan.privacy.accountant
    if asked == TIGHTEST:
        return []
    warnings = []
    for group, ids in zip(groups, plan.groups.values(), strict=True):
        cap, epsilon = plan.nodes[ids[0]].cap, number(group["epsilon"])
        if cap is None or epsilon <= cap.epsilon * (1 + _ROUNDING):
            continue
        held = group["epsilon_by"].get(cap.accountant)
        held_at = "" if held is None else f", by which the same releases are {number(held):.4g}"
        warnings.append(
            f'privacy.accountant = "{asked}" shows ε = {epsilon:.4g} for {group["name"]}, above the cap of {cap.epsilon:g}: '
            f"the cap is held by {cap.accountant}{held_at}; both are upper bounds"
        )
    return warnings


def _unrelated(plan: Plan) -> list[str]:
    """Warn where neighbours have tasks of their own that have nothing to do with each other."""
    targets, graph = plan.shards.targets, plan.graph
    if targets is None or plan.family not in _MIXES or not len(graph.weights):
        return []
    unit = targets / np.maximum(np.linalg.norm(targets, axis=1, keepdims=True), 1e-300)
    alike = np.einsum("ij,ij->i", unit[graph.heads], unit[graph.tails])
    mean = float(np.average(alike, weights=graph.weights))
    if mean >= _RELATED:
        return []
    kind = plan.resolved["network"]["topology"]["kind"]
    if kind in TOPOLOGIES and issubclass(TOPOLOGIES[kind].table, OfDataTable):
        return []  # it was made of the tasks
    return [
        f"neighbours learn unrelated tasks: the cosine between their target models is {mean:.2f} on average, where 1 is one "
        f'task and 0 is none in common; topology "{kind}" knows nothing of tasks, so that what neighbours send pulls models '
        'away from their own. topology = "knn" or "similarity" joins agents with like tasks'
    ]


def _timing(plan: Plan) -> list[str]:
    """Warn where a synchronous period is often shorter than the latency."""
    periods = [n.activation.period_s for n in plan.nodes if isinstance(n.activation, Synchronous)]
    if not periods:
        return []
    links = sum(times for _, times in plan.latencies)
    latency = sum(law.mean_s * times for law, times in plan.latencies) / links if links else 0.0
    if latency > min(periods):
        return [
            f"the synchronous period {min(periods):g} s is shorter than the mean latency {latency:.3g} s: "
            "most wakes will read old values"
        ]
    return []


def _unreached(plan: Plan, groups: list[dict[str, Any]]) -> list[str]:
    """Warn where a node has fewer wakes than releases: the rest of its budget is never spent."""
    if plan.server is not None:
        return []
    warnings = []
    for group, ids in zip(groups, plan.groups.values(), strict=True):
        node = plan.nodes[ids[0]]
        wakes = plan.rounds if plan.rounds is not None else plan.expected_updates() / plan.size
        needed = group["releases"]
        if isinstance(node.mechanism, WarmDescent) and needed is not None:
            needed += max(1, node.mechanism.wakes) - 1
        if needed is not None and node.mechanism.planned and wakes < needed:
            warnings.append(
                f"{group['name']} plans {group['releases']} releases over {needed} wakes, and about {wakes:,.0f} wakes come: "
                "the rest of the budget is not spent"
            )
    return warnings


def _fault(fault: Fault, first: int | None) -> str:
    """Return when a fault comes and for how long, in words; `first` is its first instant under this seed, in nanoseconds."""

    def length(law: Duration) -> str:
        return f"{law.mean_s:.6g} s" + ("" if isinstance(law, Constant) else " on average")

    timing = fault.timing
    if timing.at is not None:
        when = f"at {(timing.at + timing.later) / 1e9:.4g} s"
    elif timing.every is not None:
        when = f"every {length(timing.every)}"
        when += "" if first is None else f", first at {first / 1e9:.6g} s"
    else:
        when = "" if timing.when is None else f"when {timing.when.text}"
    if first is None and timing.when is None:
        chance = (
            f" (each with probability {timing.probability:g})" if timing.probability < 1 else ""
        )
        when += f", never before the run ends under this seed{chance}"
    return f"{fault.name} {when}" + (f", for {length(timing.lasts)}" if timing.lasts else "")


def _figure_in_words(value: Any, form: str = ".4g") -> str:
    """Return a figure as a reader sees it: `?` where it is not known."""
    if value is None:
        return "?"
    return "∞" if value == "inf" else format(value, form)


def _expected_in_words(plan: dict[str, Any]) -> str:
    """Return how much is expected to happen."""
    show, expected = _figure_in_words, plan["expected"]
    updates, samples = (f"{show(expected[key], ',.0f')} {key}" for key in ("updates", "samples"))
    messages, size = expected["messages"], expected["events_file_bytes"]
    if messages is None and plan["declared_by"]:
        unknown = f"messages unknown: so is how often {plan['declared_by']} derives"
        return f"{updates}, {samples}, {unknown}"
    megabytes = f"{show(size and size / 1e6, '.3g')} MB of events"
    return f"{updates}, {show(messages, ',.0f')} messages, {samples}, {megabytes}"


def in_words(plan: dict[str, Any], width: int = UNWRAPPED) -> list[str]:
    """Return the lines that tell a forecast to a reader; notes and warnings are no wider than `width`."""
    show = _figure_in_words
    points = plan["points"]
    lines = [
        f"{plan['scenario']}: {plan['mechanism']}, {plan['nodes']} agents, {plan['edges']} edges, "
        f"dimension {plan['dimension']}, {points['min']}–{points['max']} points each, seed {plan['seed']}",
        f"  expected   {_expected_in_words(plan)}; {plan['faults']} faults",
    ]
    lines += [f"  fault      {line}" for line in plan["fault_list"]]
    for group in plan["groups"]:
        released = "every wake" if group["releases"] is None else f"{group['releases']} releases"
        ways = ", ".join(f"{k} {show(v)}" for k, v in group["epsilon_by"].items())
        lines.append(
            f"  {group['name']:<10} {group['count']} agents, {group['clock']} {show(group['rate'], '.3g')}/s, {released}: "
            f"ε = {show(group['epsilon'])} ({plan['view']} view, δ = {group['delta']:g}, accountant: {group['accountant'] or 'none'})"
        )
        if plan["declared_by"]:
            lines.append(f"             {self_declared(plan['declared_by'])}")
        if ways:
            lines.append(f"             the same releases by {ways}")
        if group["calibration"]:
            lines.append(f"             {group['calibration']}")
        for noise in group["noise"]:
            low, high = show(noise["scale"]["min"]), show(noise["scale"]["max"])
            scale = low if low == high else f"{low} to {high}"
            lines.append(f"             noise: {noise['law']} {scale} ({noise['unit']})")
        if group["noise_to_step"] is not None:
            lines.append(
                f"             expected ‖noise‖/‖step‖ of the first release: {show(group['noise_to_step'], '.3g')} (median)"
            )
    if plan["calibrated"] is not None:
        lines.append(
            f'  calibrated by {plan["calibrated"]}: what privacy.calibrate = "tightest" is here'
        )
    for word, key in (("note       ", "notes"), ("warning    ", "warnings")):
        lines += [line for text in plan[key] for line in hung(word, text, width)]
    return lines
