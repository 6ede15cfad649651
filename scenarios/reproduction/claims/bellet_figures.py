"""Bellet, Guerraoui, Taziki, Tommasi 2018, Figs. 1 to 4."""

import math
from collections.abc import Iterator
from functools import partial
from typing import Any

from scenarios.reproduction.claim import EXPLORED, Choice, Claim, Experiment, Reason
from scenarios.reproduction.evidence import Evidence
from scenarios.reproduction.figure import Figure, Level, Points, course, line
from scenarios.reproduction.judgement import Absent, Judgement, Part, differences, judged

_MECHANISM, _BUDGET, _DIMENSION, _RELEASES = (
    "mechanism",
    "nodes.agents.budget.epsilon",
    "data.dimension",
    "mechanism.releases",
)
_ACCURACY, _GAIN = "accuracy.test.mean", "gain.mean"
PRINTED, CORRECTED = "cd(calibration=as_printed", "cd(calibration=corrected"
GAUSSIAN, SMOOTHED = "cd(noise=gaussian", "cd(smooth_after=true"
WARM = "warm-cd(calibration=as_printed"
_VECTORS = 10_000
_BYTES = 8 * 100
"""Bytes of a vector of p = 100 numbers."""
_TOO_LITTLE = 58.3
"""The budget that stands for noise which is 55 times too small at ε = 0.15 and these norms."""

_FIRST = Experiment("papers/bellet-figure-1", "0..2")
_UNIT = Experiment("papers/bellet-figure-2", "0..2")
_RAW = Experiment("papers/bellet-figure-2-raw", "0..2")
_ITERATIONS = Experiment("papers/bellet-figure-2-iterations")
_DIMENSIONS = Experiment("papers/bellet-figure-2-dimensions")
_FREE = Experiment("papers/bellet-figure-3-free", "0..1")
_PERTURBED = Experiment("papers/bellet-figure-4", "0..2", {_DIMENSION: (2, 20)})

_RATES = (0.008, 0.04, 0.2, 1, 5)
"""The μ that are tried, in the paper's units."""
_LENGTH = 50
"""p/2: μ counts for so much more where features have the norm √(p/2) and not 1."""


def _rates(label: str, unit: float, **sets: float) -> Experiment:
    """Return the sweep over μ without noise."""
    kinds = tuple({"kind": "cd", "mu": round(rate * unit, 6)} for rate in _RATES)
    return Experiment(
        _FREE.scenario,
        label=label,
        seeds="20..29",
        quick_seeds="20..22",
        sets={key.replace("_", "."): value for key, value in sets.items()},
        grid={_MECHANISM: kinds},
    )


_SHORT_RATES = _rates("mu-norm-1", 1)
_LONG_RATES = _rates("mu-norm-7", _LENGTH, task_l2=3.6e-4)
_PROPAGATION = Experiment(
    _FREE.scenario,
    label="propagation",
    seeds="20..29",
    quick_seeds="20..22",
    metrics=("distance",),
    sets={"run.updates": 20_000, "run.sample_every": "100s"},
    grid={_MECHANISM: ({"kind": "propagation", "mu": 5},)},
)

_FEATURES = Choice(
    "length of the features",
    "norm at most 1, as Theorem 1 with L₀ = 1 needs it; a second sweep has norm √(p/2) = 7.07 with L₀ = 1",
    "the signal grows 7-fold and the true ε with it; the accuracy as printed at ε = 0.15 stays below that of local models (bellet-figure-2c has both gains)",
)
_TARGETS = Choice(
    "target models",
    "normal in the plane of the first two coordinates, as in Vanhaesebrouck et al. 2017",
    "with targets in all p coordinates no graph of neighbours is similar, and even learning without noise loses",
)
_TRADE_OFF = Choice(
    "μ, tuned in the paper",
    "5 without noise (best of five on accuracy), 0.04 with it, which section D.2 names (2 = 0.04 × 50 in units of norm 1); 10 releases and no warm "
    "start, where the paper tunes their number and starts warm",
    "a warm start changes nothing here (bellet-figure-2b); more releases lower the accuracy with the printed noise (bellet-figure-2a)",
)
_COMPARATOR = Choice(
    "penalty of the ADMM",
    "0.1, the best of 0.01, 0.03, 0.1, 1 and 10 at 5,000 updates",
    "with others the ADMM is slower",
)
_SUMMED = Reason(
    "an unstated setting",
    "With features of any length the printed noise leaves accuracy at or below local models at ε = 0.15. What reproduces the "
    "figure in sign, in order and in its tuned μ = 0.04 is noise that is about m_i times too small (here 55, the mean): as a local "
    "loss that is summed over records (appendix C prints it so) with the noise of its mean would have. This is inferred; the code of the figure is not public",
    "`papers/bellet-figure-2-raw`: at ε = 0.15 the noise as printed (1.06) beside the same noise divided by 55 (58.3)",
)


def _courses_by_vectors(evidence: Evidence, metric: str) -> Iterator[tuple[str, tuple[float, ...]]]:
    """Yield, for both algorithms, a metric of each seed when so many vectors had been sent; a gap over that at the start."""
    for kind in ("collaborative-admm", "cd"):
        match = {_MECHANISM: kind}
        sent = evidence.courses(_FIRST.scenario, "bytes.sent", match)
        values = evidence.courses(_FIRST.scenario, metric, match)
        found = []
        for seed in sorted(sent):
            at = [t for t, count in sent[seed] if count / _BYTES <= _VECTORS]
            if not at:
                raise Absent(f"{kind}: no sample before {_VECTORS} vectors were sent")
            course_of = dict(values[seed])
            value = course_of[at[-1]]
            found.append(value / values[seed][0][1] if metric == "gap" else value)
        yield kind, tuple(found)


def _first(evidence: Evidence) -> Judgement:
    parts = []
    for metric, words, sign in (
        ("gap.relative", "objective: relative gap", -1),
        (_ACCURACY, "accuracy", 1),
    ):
        ends = [
            evidence.ends(_FIRST.scenario, metric, {_MECHANISM: kind})
            for kind in ("collaborative-admm", "cd")
        ]
        lead = tuple(sign * value for value in differences(*ends))
        parts.append(Part(f"{words} after 1,300 updates, by how much CD is better", lead, above=0))
    return judged(parts)


def _first_by_vectors(evidence: Evidence) -> Judgement:
    parts = []
    for metric, words, sign in (
        ("gap", "objective: gap over that at the start", -1),
        (_ACCURACY, "accuracy", 1),
    ):
        (_, theirs), (_, ours) = _courses_by_vectors(evidence, metric)
        lead = tuple(sign * (b - a) for a, b in zip(theirs, ours, strict=True))
        said = f"{words} after {_VECTORS:,} vectors, by how much CD is better"
        parts.append(Part(said, lead, above=0))
    return judged(parts)


def _figure_1(evidence: Evidence) -> Figure:
    lines = [
        course(name, evidence.courses(_FIRST.scenario, _ACCURACY, {_MECHANISM: kind}))
        for kind, name in (("cd", "coordinate descent"), ("collaborative-admm", "ADMM"))
    ]
    title = "Bellet et al. 2018, Fig. 1: from the local models, p = 100"
    return Figure(title, "wakes of each agent (time)", "test accuracy", lines)


def _gains(evidence: Evidence, kind: str, epsilon: float) -> dict[int, float]:
    return evidence.ends(_UNIT.scenario, _GAIN, {_MECHANISM: kind, _BUDGET: epsilon})


def _beats_local(evidence: Evidence) -> Judgement:
    part = Part(
        "gain in accuracy over local models, ε = 0.15, Gaussian noise that keeps ε, smoothing after the budget",
        tuple(_gains(evidence, GAUSSIAN, 0.15).values()),
        above=0,
    )
    other = _RAW.scenario
    return judged(
        [part],
        *(
            f"{words}: gain {evidence.mean(scenario, _GAIN, match):.3f}, true ε {evidence.mean(scenario, 'epsilon.max', match):.3g}"
            for words, scenario, match in (
                (
                    "Laplace as printed, norm 1",
                    _UNIT.scenario,
                    {_MECHANISM: PRINTED, _BUDGET: 0.15},
                ),
                (
                    "Laplace that keeps ε, norm 1",
                    _UNIT.scenario,
                    {_MECHANISM: CORRECTED, _BUDGET: 0.15},
                ),
                ("Laplace as printed, norm 7.07", other, {_MECHANISM: PRINTED, _BUDGET: 1.06}),
                (
                    "one release as printed, norm 7.07, then smoothing",
                    other,
                    {_MECHANISM: SMOOTHED, _BUDGET: 1.06},
                ),
                (
                    "noise divided by 55, norm 7.07",
                    other,
                    {_MECHANISM: PRINTED, _BUDGET: _TOO_LITTLE},
                ),
            )
        ),
        "ε: eavesdropper, one record of one agent replaced, δ = exp(−5), tightest accountant; δ is about 1/m, too large to mean much",
    )


def _figure_2(evidence: Evidence) -> Figure:
    scenario = _RAW.scenario
    local = evidence.mean(
        scenario, _ACCURACY, {_MECHANISM: PRINTED, _BUDGET: 1.06}
    ) - evidence.mean(scenario, _GAIN, {_MECHANISM: PRINTED, _BUDGET: 1.06})
    settings = (
        ("printed, norm 1, ε 0.15", _UNIT.scenario, PRINTED, 0.15),
        ("keeps ε, norm 1, ε 0.15", _UNIT.scenario, GAUSSIAN, 0.15),
        ("printed, norm 7, ε 0.15", scenario, PRINTED, 1.06),
        ("printed, norm 7, ε 1", scenario, PRINTED, 7.07),
        ("one release, smoothing, norm 7, ε 1", scenario, SMOOTHED, 7.07),
        ("noise / 55, norm 7, ε 0.15", scenario, PRINTED, _TOO_LITTLE),
    )
    points = [
        Points(
            at, list(evidence.ends(name, _ACCURACY, {_MECHANISM: kind, _BUDGET: budget}).values())
        )
        for at, (_, name, kind, budget) in enumerate(settings)
    ]
    title = "Bellet et al. 2018, Fig. 2(c) at p = 100"
    return Figure(
        title,
        "",
        "test accuracy",
        [line("private", points)],
        [Level("local models", local)],
        ticks=[words for words, *_ in settings],
    )


def _warm(evidence: Evidence) -> Judgement:
    ends = [
        evidence.ends(_UNIT.scenario, _ACCURACY, {_MECHANISM: kind, _BUDGET: 0.15})
        for kind in (PRINTED, WARM)
    ]
    words = (
        "accuracy with a warm start of ε = 0.05 minus without, ε = 0.15 in all, noise as printed"
    )
    return judged([Part(words, differences(*ends), above=0.02)])


def _iterations(evidence: Evidence, budget: float) -> Judgement:
    counts = evidence.labels(_ITERATIONS.scenario, _RELEASES)
    ends = {
        count: evidence.ends(_ITERATIONS.scenario, "objective", {_RELEASES: count, _BUDGET: budget})
        for count in counts
    }
    mean = {count: math.fsum(each.values()) / len(each) for count, each in ends.items()}
    best = min(mean, key=mean.__getitem__)
    return judged(
        [
            Part(
                f"objective with {counts[-1]} releases minus with the best number ({best})",
                differences(ends[best], ends[counts[-1]]),
                above=0,
            ),
            Part(
                f"objective with {counts[0]} release minus with the best number ({best})",
                differences(ends[best], ends[counts[0]]),
                above=0,
                exact=best == counts[0],
            ),
        ],
        "objective by number of releases: "
        + ", ".join(f"{count}: {value:.4g}" for count, value in mean.items()),
        "with ε = 0.15 and noise divided by 55: "
        + ", ".join(f"{count}: {_objective(evidence, count):.4g}" for count in counts),
    )


def _objective(evidence: Evidence, releases: int) -> float:
    match = {_RELEASES: releases, _BUDGET: _TOO_LITTLE}
    return evidence.mean(_ITERATIONS.scenario, "objective", match)


def _figure_2a(evidence: Evidence) -> Figure:
    lines = []
    for words, budget in (
        ("ε = 1, noise as printed", 7.07),
        ("ε = 0.15, noise divided by 55", _TOO_LITTLE),
    ):
        points = [
            Points(
                count,
                list(
                    evidence.ends(
                        _ITERATIONS.scenario, "objective", {_RELEASES: count, _BUDGET: budget}
                    ).values()
                ),
            )
            for count in evidence.labels(_ITERATIONS.scenario, _RELEASES)
        ]
        lines.append(line(words, points))
    title = "Bellet et al. 2018, Fig. 2(a): one budget shared out over more releases"
    return Figure(title, "releases of each agent", "objective at the end", lines, log="xy")


def _dimensions(evidence: Evidence, budget: float) -> Judgement:
    parts = []
    for dimension in evidence.labels(_DIMENSIONS.scenario, _DIMENSION):
        match = {_DIMENSION: dimension, _BUDGET: budget}
        gains = tuple(evidence.ends(_DIMENSIONS.scenario, _GAIN, match).values())
        parts.append(Part(f"p = {dimension}: gain over local models", gains, above=0))
    return judged(parts)


def _figure_2c(evidence: Evidence) -> Figure:
    lines = []
    for words, budget in (("noise as printed", 1.06), ("noise divided by 55", _TOO_LITTLE)):
        points = [
            Points(
                dimension,
                list(
                    evidence.ends(
                        _DIMENSIONS.scenario, _GAIN, {_DIMENSION: dimension, _BUDGET: budget}
                    ).values()
                ),
            )
            for dimension in evidence.labels(_DIMENSIONS.scenario, _DIMENSION)
        ]
        lines.append(line(words, points))
    title = "Bellet et al. 2018, Fig. 2(c): ε = 0.15"
    return Figure(
        title, "dimension p", "gain in accuracy over local", lines, [Level("local models", 0.0)]
    )


def _by_size(evidence: Evidence, scenario: str, match: dict[str, Any]) -> list[list[float]]:
    """Return, for each seed, the mean gain of the agents in four classes of sizes, small ones first."""
    sweep, found = evidence.sweep(scenario), []
    for row in evidence.rows(scenario, match):
        run = sweep.run(row)
        gains = run.last_sample.get("gain")
        if gains is None:
            raise Absent(f"{scenario}: no sample holds the gain of single agents")
        classes: list[list[float]] = [[], [], [], []]
        for node, gain in zip(run.summary["nodes"], gains, strict=True):
            classes[min(3, int((node["points"] - 10) / 22.75))].append(gain)
        found.append([math.fsum(c) / len(c) for c in classes])
    return found


def _small_gain_more(evidence: Evidence) -> Judgement:
    gains = _by_size(evidence, _FREE.scenario, {})
    return judged(
        [
            Part(
                "gain of agents with 10 to 32 points minus those with 79 to 100, without noise",
                tuple(g[0] - g[3] for g in gains),
                above=0,
            ),
            Part(
                "gain of agents with 79 to 100 points, without noise",
                tuple(g[3] for g in gains),
                above=0,
            ),
        ]
    )


def _small_boost(evidence: Evidence) -> Judgement:
    gains = _by_size(evidence, _RAW.scenario, {_MECHANISM: SMOOTHED, _BUDGET: 1.06})
    words = "gain of agents with 10 to 32 points minus those with 79 to 100"
    return judged([Part(words, tuple(g[0] - g[3] for g in gains), above=0)])


def _small_gain_more_private(evidence: Evidence) -> Judgement:
    gains = _by_size(evidence, _RAW.scenario, {_MECHANISM: SMOOTHED, _BUDGET: 1.06})
    little = _by_size(evidence, _RAW.scenario, {_MECHANISM: PRINTED, _BUDGET: _TOO_LITTLE})
    means = [math.fsum(g[k] for g in little) / len(little) for k in range(4)]
    return judged(
        [
            Part(
                f"gain of agents with {words} points, ε = 0.15, one release as printed and smoothing",
                tuple(g[k] for g in gains),
                above=0,
            )
            for k, words in ((0, "10 to 32"), (3, "79 to 100"))
        ],
        "with noise divided by 55, gains by size from small to large: "
        + ", ".join(f"{m:.3f}" for m in means),
    )


def _figure_3(evidence: Evidence) -> Figure:
    lines = []
    for words, scenario, match in (
        ("without noise", _FREE.scenario, {}),
        (
            "noise as printed, ε 0.15, smoothing",
            _RAW.scenario,
            {_MECHANISM: SMOOTHED, _BUDGET: 1.06},
        ),
        ("noise divided by 55, ε 0.15", _RAW.scenario, {_MECHANISM: PRINTED, _BUDGET: _TOO_LITTLE}),
    ):
        gains = _by_size(evidence, scenario, match)
        lines.append(line(words, [Points(k, [g[k] for g in gains]) for k in range(4)]))
    return Figure(
        "Bellet et al. 2018, Fig. 3: p = 100",
        "training points of an agent",
        "gain in accuracy over local",
        lines,
        [Level("local models", 0.0)],
        ticks=["10–32", "33–55", "56–78", "79–100"],
    )


def _perturbed(evidence: Evidence) -> Judgement:
    parts = []
    for dimension in evidence.labels(_PERTURBED.scenario, _DIMENSION):
        for epsilon in evidence.labels(_PERTURBED.scenario, "mechanism.epsilon_features"):
            match = {_DIMENSION: dimension, "mechanism.epsilon_features": epsilon}
            gains = tuple(evidence.ends(_PERTURBED.scenario, _GAIN, match).values())
            words = f"p = {dimension}, ε of features {epsilon}, of the label 0.5: accuracy minus that of local models"
            parts.append(Part(words, gains, below=-0.1))
    return judged(parts)


def _figure_4(evidence: Evidence) -> Figure:
    lines = []
    for epsilon in evidence.labels(_PERTURBED.scenario, "mechanism.epsilon_features"):
        points = [
            Points(
                dimension,
                list(
                    evidence.ends(
                        _PERTURBED.scenario,
                        _GAIN,
                        {_DIMENSION: dimension, "mechanism.epsilon_features": epsilon},
                    ).values()
                ),
            )
            for dimension in evidence.labels(_PERTURBED.scenario, _DIMENSION)
        ]
        lines.append(line(f"ε of features {epsilon}", points))
    title = "Bellet et al. 2018, Fig. 4: models of perturbed data"
    return Figure(
        title,
        "dimension p",
        "gain in accuracy over local",
        lines,
        [Level("local models", 0.0)],
        log="x",
    )


def _best_rate(evidence: Evidence, experiment: Experiment) -> Judgement:
    """Judge whether no other μ is more accurate than 0.04 of the paper's units by more than 0.005."""
    ends = {
        rate: evidence.ends(experiment.name, _ACCURACY, {_MECHANISM: label})
        for rate, label in zip(_RATES, evidence.labels(experiment.name, _MECHANISM), strict=True)
    }
    means = (f"μ = {r:g}: {math.fsum(v.values()) / len(v):.4f}" for r, v in ends.items())
    return judged(
        [
            Part(f"accuracy at μ = {r:g} minus at 0.04", differences(ends[0.04], v), below=0.005)
            for r, v in ends.items()
            if r != 0.04
        ],
        f"test accuracy without noise, μ in the paper's units: {', '.join(means)}",
    )


def _propagated(evidence: Evidence) -> Judgement:
    found = tuple(evidence.ends(_PROPAGATION.name, "distance").values())
    words = "distance of models from (D − W + μDC)⁻¹ μDC Θ^loc after 20,000 updates"
    return judged([Part(words, found, below=1e-9)])


_NO_NUMBERS = "a figure without numbers in the text"
_FASTER = "Coordinate descent significantly outperforms the ADMM, in objective and in accuracy"
_PRIVATE = "Even with ε = 0.15 private models significantly outperform purely local models"

KINDS = (
    *(
        Claim(
            name=f"bellet-trade-off-{name}",
            paper="bellet",
            place="5.1; D.2",
            statement="μ = 0.04 maximises the accuracy without noise on the synthetic task",
            reading=reading,
            value="μ = 0.04",
            rule="no other of 0.008, 0.2, 1 and 5 has a test accuracy that is larger by more than 0.005, on the seeds 20..29",
            looked=None,
            judge=partial(_best_rate, experiment=experiment),
            experiments=(experiment,),
            choices=(_TARGETS,),
            reason=Reason(
                "an unstated setting",
                "how much μ = 0.04 weighs depends on the length of the features and on c_i, which the paper leaves open",
                "the two lengths of features",
            ),
        )
        for name, reading, experiment in (
            ("norm-1", "features of norm at most 1", _SHORT_RATES),
            ("norm-7", "features of norm √(p/2), in units of norm 1", _LONG_RATES),
        )
    ),
    Claim(
        name="bellet-propagation",
        paper="bellet",
        place="appendix C, eq. (16)",
        statement="Model propagation reaches the minimum of eq. (15), asynchronously",
        reading="",
        value="said in words",
        rule="after 20,000 updates the models lie within 1e-9 of the minimiser of (15), on the seeds 20..29",
        looked=None,
        judge=_propagated,
        experiments=(_PROPAGATION,),
    ),
    Claim(
        name="bellet-figure-1-updates",
        paper="bellet",
        place="Fig. 1, iterations",
        statement=_FASTER,
        reading="by iterations",
        value=_NO_NUMBERS,
        rule="after 1,300 updates the relative gap is smaller and the accuracy larger, paired by seed",
        looked=EXPLORED,
        judge=_first,
        experiments=(_FIRST,),
        choices=(_TARGETS, _TRADE_OFF, _COMPARATOR),
        figure=_figure_1,
    ),
    Claim(
        name="bellet-figure-1-vectors",
        paper="bellet",
        place="Fig. 1, vectors sent",
        statement=_FASTER,
        reading="by vectors sent",
        value=_NO_NUMBERS,
        rule="when 10,000 vectors were sent the relative gap is smaller and the accuracy larger, paired by seed",
        looked=EXPLORED,
        judge=_first_by_vectors,
        experiments=(_FIRST,),
        choices=(_TARGETS, _TRADE_OFF, _COMPARATOR),
        figure=_figure_1,
    ),
    Claim(
        name="bellet-figure-2a",
        paper="bellet",
        place="Fig. 2(a)",
        statement="Within one budget more iterations of each agent first lower the objective and then raise it",
        reading="",
        value=_NO_NUMBERS,
        rule="of 1, 2, 5, 10, 20, 50 releases neither the fewest nor the most end with the smallest objective at ε = 1, noise as printed (the best is found on the same seeds)",
        looked="the best number of releases is found on the same seeds, and the second budget was chosen after a first set",
        judge=lambda evidence: _iterations(evidence, 7.07),
        experiments=(_ITERATIONS,),
        choices=(_FEATURES, _TARGETS, _TRADE_OFF),
        figure=_figure_2a,
        reason=Reason(
            "an unstated setting",
            "with the printed noise at p = 100 each further release adds more noise than it removes error, already at ε = 1. With noise that is "
            "divided by 55 (see bellet-figure-2c) the objective at ε = 0.15 falls first and then rises, as in the figure",
            "the same sweep has both: budgets 7.07 and 58.3",
        ),
    ),
    Claim(
        name="bellet-figure-2b",
        paper="bellet",
        place="Fig. 2(b)",
        statement="A private warm start of ε = 0.05 gives a significant gain in accuracy",
        reading="",
        value=_NO_NUMBERS,
        rule="accuracy with a warm start minus without, at ε = 0.15 in all, is above 0.02 (the paper adds the ε of the start to the budget)",
        looked=EXPLORED,
        judge=_warm,
        experiments=(_UNIT,),
        choices=(_FEATURES, _TARGETS, _TRADE_OFF),
        reason=Reason(
            "the printed noise",
            "with λ_i = 1/m_i the sensitivity of a local model is 1 for any m (erratum E19): at ε = 0.05 the noise is a thousand "
            "times the model",
            "`papers/bellet-figure-2` has the same budget with and without a warm start",
        ),
    ),
    Claim(
        name="bellet-figure-2c",
        paper="bellet",
        place="Fig. 2(c)",
        statement=_PRIVATE,
        reading="noise that keeps ε, p = 100",
        value=_NO_NUMBERS,
        rule="the gain over local models is above 0 with noise that keeps ε",
        looked=EXPLORED,
        judge=_beats_local,
        experiments=(_UNIT, _RAW),
        choices=(_FEATURES, _TARGETS, _TRADE_OFF),
        reason=_SUMMED,
        figure=_figure_2,
    ),
    Claim(
        name="bellet-figure-2c-dimensions",
        paper="bellet",
        place="Fig. 2(c)",
        statement=_PRIVATE,
        reading="noise as printed, three dimensions",
        value=_NO_NUMBERS,
        rule="the gain over local models is above 0 for p = 20, 50, 100",
        looked=EXPLORED,
        judge=lambda evidence: _dimensions(evidence, 1.06),
        experiments=(_DIMENSIONS,),
        choices=(_FEATURES, _TARGETS, _TRADE_OFF),
        reason=_SUMMED,
        figure=_figure_2c,
    ),
    Claim(
        name="bellet-figure-3-free",
        paper="bellet",
        place="Fig. 3, without noise",
        statement="All agents gain from learning together, and those with little data gain more",
        reading="",
        value=_NO_NUMBERS,
        rule="agents with 10 to 32 points gain more than those with 79 to 100, and these gain, too",
        looked=EXPLORED,
        judge=_small_gain_more,
        experiments=(_FREE,),
        choices=(_TARGETS, _TRADE_OFF),
    ),
    Claim(
        name="bellet-figure-3-boost",
        paper="bellet",
        place="Fig. 3, private",
        statement="Agents with less data get the larger boost from private learning",
        reading="",
        value=_NO_NUMBERS,
        rule="gain of agents with 10 to 32 points minus those with 79 to 100 is above 0 (ε = 0.15, one release as printed and smoothing)",
        looked=EXPLORED,
        judge=_small_boost,
        experiments=(_RAW,),
        choices=(_FEATURES, _TARGETS, _TRADE_OFF),
    ),
    Claim(
        name="bellet-figure-3-private",
        paper="bellet",
        place="Fig. 3, private",
        statement="All agents gain from private learning at ε = 0.15, whatever the size of their data",
        reading="",
        value=_NO_NUMBERS,
        rule="agents with 10 to 32 points and agents with 79 to 100 gain with noise as printed",
        looked=EXPLORED,
        judge=_small_gain_more_private,
        experiments=(_FREE, _RAW),
        choices=(_FEATURES, _TARGETS, _TRADE_OFF),
        reason=_SUMMED,
        figure=_figure_3,
    ),
    Claim(
        name="bellet-figure-4",
        paper="bellet",
        place="Fig. 4",
        statement="Perturbing the data (local differential privacy) costs a huge part of the accuracy of local models",
        reading="",
        value=_NO_NUMBERS,
        rule="accuracy minus that of local models is below −0.1 for p = 2, 20, 100 at two ε",
        looked=EXPLORED,
        judge=_perturbed,
        experiments=(_PERTURBED,),
        choices=(
            _TARGETS,
            Choice(
                "how ε is shared between features and label",
                "0.5 for the label, 0.5 or 5 for features",
                "p = 2 with ε = 5 loses least",
            ),
        ),
        figure=_figure_4,
    ),
)
