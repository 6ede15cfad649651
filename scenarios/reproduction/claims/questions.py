"""Questions that need asynchrony, churn and ledgers in one place: what each costs in accuracy and in ε."""

import math
from typing import Any

from scenarios.reproduction.claim import EXPLORED, Claim, Experiment, Reason
from scenarios.reproduction.evidence import Evidence
from scenarios.reproduction.figure import Figure, Points, line
from scenarios.reproduction.judgement import Judgement, Part, differences, judged, within

_LATENCY, _MECHANISM, _RELEASE = "network.latency", "mechanism", "mechanism.release"
_LOSS, _ACCURACY = "loss.mean", "accuracy.test.mean"
_CHURN, _AT = "fault.0.churn", "fault.0.at"

_ASYNCHRONY = Experiment("questions/price-of-asynchrony", "0..3")
_ABSENCE = Experiment("questions/budgets-under-absence")
_UNREAD = Experiment("questions/unread-releases", "0..2", {"network.loss": (0.5,)})
_DEPARTURES = Experiment("questions/departures-of-others", "0..1")
_PAYERS = Experiment("questions/who-pays-under-churn", "0..2")

_EPSILON = "ε: eavesdropper, one record of one agent replaced, tightest accountant, δ as the scenario has it; participation depends on no data"


def _by_latency(evidence: Evidence, metric: str) -> list[tuple[str, dict[int, float]]]:
    """Return a metric of each seed by latency, the synchronous clock first."""
    labels = evidence.labels(_ASYNCHRONY.scenario, _LATENCY)
    return [
        (label, evidence.ends(_ASYNCHRONY.scenario, metric, {_LATENCY: label})) for label in labels
    ]


def _asynchrony(evidence: Evidence) -> Judgement:
    (_, first), *others = _by_latency(evidence, _ACCURACY)
    return judged(
        [
            within(
                f"accuracy under Poisson clocks, latency {label}, minus synchronous",
                differences(first, ends),
                0.03,
            )
            for label, ends in others
        ],
        _EPSILON,
    )


def _staleness(evidence: Evidence) -> Judgement:
    (_, first), *others = _by_latency(evidence, _LOSS)
    label, last = others[-1]
    return judged(
        [
            Part(
                f"training loss under Poisson clocks, latency {label}, minus synchronous",
                differences(first, last),
                above=0,
            )
        ]
    )


def _figure_asynchrony(evidence: Evidence) -> Figure:
    rows = _by_latency(evidence, _ACCURACY)
    ticks = ["synchronous", "0", "0.5", "2", "8"]
    points = [Points(at, list(ends.values())) for at, (_, ends) in enumerate(rows)]
    return Figure(
        "The price of asynchrony at equal releases (ε = 4, 20 releases)",
        "mean latency, in mean gaps between wakes of a Poisson clock",
        "test accuracy",
        [line("accuracy", points)],
        ticks=ticks,
    )


_FOREVER, _BACK = 0, 1
_SCHEDULES = ("uniform", "growing", "survival", "rollover")


def _absent(evidence: Evidence, which: int, schedule: str, metric: str) -> dict[int, float]:
    label = evidence.labels(_ABSENCE.scenario, _CHURN)[which]
    match = {_CHURN: label, _MECHANISM: f"cd(schedule={schedule}"}
    return evidence.ends(_ABSENCE.scenario, metric, match)


def _survival(evidence: Evidence) -> Judgement:
    ends = [
        _absent(evidence, _FOREVER, schedule, "objective") for schedule in ("growing", "survival")
    ]
    spent = [
        f"{schedule}: ε {_mean(_absent(evidence, _FOREVER, schedule, 'epsilon.mean')):.3g}, objective "
        f"{_mean(_absent(evidence, _FOREVER, schedule, 'objective')):.0f}, accuracy {_mean(_absent(evidence, _FOREVER, schedule, _ACCURACY)):.3f}"
        for schedule in _SCHEDULES
    ]
    return judged(
        [
            Part(
                "objective with survival weights minus growing weights, agents depart for good",
                differences(*ends),
                below=0,
            )
        ],
        *spent,
        _EPSILON,
    )


def _rollover(evidence: Evidence) -> Judgement:
    parts = []
    for metric, words in (("epsilon.mean", "ε that is used"), (_ACCURACY, "accuracy")):
        ends = [_absent(evidence, _BACK, schedule, metric) for schedule in ("uniform", "rollover")]
        compared = f"{words}, rollover minus uniform, agents come back"
        parts.append(Part(compared, differences(*ends), above=0))
    said = [
        f"{schedule}: ε {_mean(_absent(evidence, _BACK, schedule, 'epsilon.mean')):.3g}, {_mean(_absent(evidence, _BACK, schedule, 'releases.mean')):.3g} releases, "
        f"accuracy {_mean(_absent(evidence, _BACK, schedule, _ACCURACY)):.3f}"
        for schedule in _SCHEDULES
    ]
    return judged(parts, *said, _EPSILON)


def _mean(ends: dict[int, float]) -> float:
    return math.fsum(ends.values()) / len(ends)


def _figure_absence(evidence: Evidence) -> Figure:
    lines = [
        line(
            words,
            [
                Points(at, list(_absent(evidence, which, schedule, _ACCURACY).values()))
                for at, schedule in enumerate(_SCHEDULES)
            ],
        )
        for words, which in (("departs for good", _FOREVER), ("comes back", _BACK))
    ]
    return Figure(
        "Schedules of one budget under random absence (ε ≤ 4, 40 releases planned)",
        "schedule",
        "test accuracy",
        lines,
        ticks=list(_SCHEDULES),
    )


def _unread(
    evidence: Evidence, release: str, loss: float, latency: str, metric: str
) -> dict[int, float]:
    match = {_RELEASE: release, "network.loss": loss, _LATENCY: latency}
    return evidence.ends(_UNREAD.scenario, metric, match)


def _saves(evidence: Evidence) -> Judgement:
    parts = []
    slow = evidence.labels(_UNREAD.scenario, _LATENCY)[-1]
    for loss in evidence.labels(_UNREAD.scenario, "network.loss"):
        if loss:
            ends = [
                _unread(evidence, release, loss, slow, "epsilon.unread.mean")
                for release in ("always", "when-read")
            ]
            parts.append(
                Part(
                    f"loss {loss}, latency {slow}: unread ε, when-read minus always",
                    differences(*ends),
                    below=0,
                )
            )
    return judged(parts, *_unread_table(evidence), _EPSILON)


def _costs(evidence: Evidence) -> Judgement:
    parts = []
    slow = evidence.labels(_UNREAD.scenario, _LATENCY)[-1]
    for loss in evidence.labels(_UNREAD.scenario, "network.loss"):
        ends = [
            _unread(evidence, release, loss, slow, _ACCURACY) for release in ("always", "when-read")
        ]
        parts.append(
            Part(
                f"loss {loss}, latency {slow}: accuracy, when-read minus always",
                differences(*ends),
                above=-0.01,
            )
        )
    return judged(parts, *_unread_table(evidence))


def _unread_table(evidence: Evidence) -> list[str]:
    said = []
    for loss in evidence.labels(_UNREAD.scenario, "network.loss"):
        for latency in evidence.labels(_UNREAD.scenario, _LATENCY):
            for release in ("always", "when-read"):
                numbers = [
                    _mean(_unread(evidence, release, loss, latency, m))
                    for m in ("releases.mean", "epsilon.mean", "epsilon.unread.mean", _ACCURACY)
                ]
                said.append(
                    f"loss {loss}, latency {latency}, {release}: {numbers[0]:.3g} releases, ε {numbers[1]:.3g}, of it unread {numbers[2]:.3g}, accuracy {numbers[3]:.3f}"
                )
    return said


def _figure_unread(evidence: Evidence) -> Figure:
    lines = []
    for release in ("always", "when-read"):
        for latency in evidence.labels(_UNREAD.scenario, _LATENCY):
            points = [
                Points(
                    loss,
                    list(_unread(evidence, release, loss, latency, "epsilon.unread.mean").values()),
                )
                for loss in evidence.labels(_UNREAD.scenario, "network.loss")
            ]
            lines.append(line(f"{release}, latency {latency}", points))
    return Figure(
        "ε of releases that no agent reads (ε ≤ 4, 30 releases planned)",
        "share of messages that are lost",
        "unread ε, mean over agents",
        lines,
    )


def _at_delta(evidence: Evidence, kind: str) -> tuple[float, ...]:
    """Return, for each seed, ε at δ of the last release where neighbours left over that where they stayed."""
    left, stayed = (
        evidence.ends(_DEPARTURES.scenario, "epsilon.per_release.max", {_MECHANISM: kind, _AT: at})
        for at in evidence.labels(_DEPARTURES.scenario, _AT)
    )
    return tuple(left[seed] / stayed[seed] for seed in sorted(left))


def _pure(evidence: Evidence, kind: str) -> list[tuple[float, float]]:
    """Return, for each seed, the pure ε of the last release where neighbours left, and where they stayed: as the ledger charges it."""
    sweep = evidence.sweep(_DEPARTURES.scenario)
    found = []
    for at in evidence.labels(_DEPARTURES.scenario, _AT):
        rows = evidence.rows(_DEPARTURES.scenario, {_MECHANISM: kind, _AT: at})
        lines = [list(sweep.run(row).ledger_lines()) for row in rows]
        last = [max(line["k"] for line in each) for each in lines]
        found.append(
            [
                max(line["charged"] for line in each if line["k"] == k)
                for each, k in zip(lines, last, strict=True)
            ]
        )
    return list(zip(*found, strict=True))


def _grown(evidence: Evidence, kind: str, words: str, bounds: tuple[float, float]) -> list[Part]:
    """Return the parts that ask by how much a release costs more: its pure ε, and its ε at δ."""
    low, high = bounds
    return [
        Part(f"{words}: {unit}, one neighbour over six", values, above=low, below=high, exact=True)
        for unit, values in (
            ("pure ε of the last release", tuple(a / b for a, b in _pure(evidence, kind))),
            ("its ε at δ = 1e-5, tightest accountant", _at_delta(evidence, kind)),
        )
    ]


_RELEASES_OF = "ε: eavesdropper, one record of one agent replaced; participation depends on no data"


def _departures(evidence: Evidence) -> Judgement:
    left, stayed = _pure(evidence, "pp")[0]
    whole = {
        kind: [
            evidence.mean(_DEPARTURES.scenario, "epsilon.basic.max", {_MECHANISM: kind, _AT: at})
            for at in evidence.labels(_DEPARTURES.scenario, _AT)
        ]
        for kind in ("pp", "dvp")
    }
    return judged(
        _grown(evidence, "pp", "penalty perturbation", (5, 7)),
        f"pp: pure ε of the last release {left:.9f} with one neighbour, {stayed:.9f} with six",
        *(
            f"{kind}: pure ε of the whole run {values[0]:.3g} where five of six neighbours left half-way, {values[1]:.3g} where they stayed"
            for kind, values in whole.items()
        ),
        _RELEASES_OF,
    )


def _steady(evidence: Evidence) -> Judgement:
    return judged(
        _grown(evidence, "dvp", "dual perturbation", (0.95, 1.05)),
        _RELEASES_OF,
    )


def _figure_departures(evidence: Evidence) -> Figure:
    lines = []
    for at, (kind, words) in enumerate(
        (("pp", "penalty perturbation"), ("dvp", "dual perturbation"))
    ):
        points = [
            Points(
                place,
                list(
                    evidence.ends(
                        _DEPARTURES.scenario,
                        "epsilon.per_release.max",
                        {_MECHANISM: kind, _AT: label},
                    ).values()
                ),
            )
            for place, label in enumerate(reversed(evidence.labels(_DEPARTURES.scenario, _AT)))
        ]
        lines.append(line(words, points))
        del at
    return Figure(
        "ε of one release as neighbours leave",
        "",
        "ε of the last release",
        lines,
        ticks=["six neighbours", "one neighbour"],
    )


def _payers(evidence: Evidence, metric: str) -> list[tuple[str, dict[int, float]]]:
    labels = evidence.labels(_PAYERS.scenario, _CHURN)
    words = ("10 s", "60 s", "300 s")
    return [
        (w, evidence.ends(_PAYERS.scenario, metric, {_CHURN: label}))
        for w, label in zip(words, labels, strict=True)
    ]


def _who_pays(evidence: Evidence) -> Judgement:
    low, high = _payers(evidence, "epsilon.p10"), _payers(evidence, "epsilon.p90")
    gaps = [
        {s: most[s] - least[s] for s in most}
        for (_, least), (_, most) in zip(low, high, strict=True)
    ]
    said = [
        f"sessions of {words}: ε of the tenth that pays least {_mean(ends):.3g}, availability of the tenth that is there least {_mean(seen):.2f}"
        for (words, ends), (_, seen) in zip(low, _payers(evidence, "availability.p10"), strict=True)
    ]
    return judged(
        [
            Part(
                "spread of ε (p90 − p10) with sessions of 300 s minus 10 s",
                differences(gaps[0], gaps[-1]),
                above=0,
            )
        ],
        *said,
        _EPSILON,
    )


def _who_gains(evidence: Evidence) -> Judgement:
    gains = _payers(evidence, "gain.mean")
    said = [f"sessions of {words}: gain {_mean(ends):+.3f}" for words, ends in gains]
    return judged(
        [
            Part(
                "mean gain with sessions of 300 s minus 10 s",
                differences(gains[0][1], gains[-1][1]),
                above=0,
            )
        ],
        *said,
    )


def _figure_payers(evidence: Evidence) -> Figure:
    lines = []
    for metric, words in (
        ("epsilon.p10", "the tenth that pays least"),
        ("epsilon.mean", "mean"),
        ("epsilon.p90", "the tenth that pays most"),
    ):
        points = [
            Points(at, list(ends.values()))
            for at, (_, ends) in enumerate(_payers(evidence, metric))
        ]
        lines.append(line(words, points))
    return Figure(
        "Who pays under churn (online half of the time, ε ≤ 4)",
        "mean length of a session",
        "ε of an agent",
        lines,
        ticks=["10 s", "60 s", "300 s"],
    )


def _claim(name: str, place: str, statement: str, rule: str, looked: str, **more: Any) -> Claim:
    return Claim(
        name=f"questions-{name}",
        paper="questions",
        place=place,
        statement=statement,
        reading="",
        value="no paper says",
        rule=rule,
        looked=looked,
        **more,
    )


KINDS = (
    _claim(
        "price-of-asynchrony",
        "price-of-asynchrony",
        "At equal releases asynchrony and latency up to eight gaps between wakes cost less than 0.03 of accuracy",
        "accuracy minus that of a synchronous clock without latency is within 0.03 for latencies of 0, 0.5, 2 and 8 mean gaps",
        "the bound of 0.03 was set after a look",
        judge=_asynchrony,
        experiments=(_ASYNCHRONY,),
        figure=_figure_asynchrony,
    ),
    _claim(
        "price-of-latency",
        "price-of-asynchrony",
        "Latency of eight gaps between wakes raises the training loss",
        "training loss at a latency of 8 mean gaps minus that of a synchronous clock is above 0",
        EXPLORED,
        judge=_staleness,
        experiments=(_ASYNCHRONY,),
    ),
    _claim(
        "survival-weights",
        "budgets-under-absence",
        "Where agents depart for good, weights that count the chance of reaching a release lower the objective",
        'objective with schedule = "survival" minus "growing" is below 0, paired by seed',
        "the horizon was changed after a first set",
        judge=_survival,
        experiments=(_ABSENCE,),
        figure=_figure_absence,
        decides="more seeds, or more releases: the weights differ by S_k to the power of a quarter only",
        reason=Reason(
            "an unstated setting",
            "the objective counts agents that departed with their last model, whose noise later shares do not lower",
            "the setting in which agents come back, in the same sweep",
        ),
    ),
    _claim(
        "rollover",
        "budgets-under-absence",
        "Where agents come back, shares that pass on use more of the budget and raise accuracy",
        'ε and accuracy with schedule = "rollover" minus "uniform" are above 0, paired by seed',
        "the rule asked for about the same ε, did not hold, and was turned round; the horizon was changed, too",
        judge=_rollover,
        experiments=(_ABSENCE,),
        figure=_figure_absence,
    ),
    _claim(
        "unread-epsilon",
        "unread-releases",
        "Waiting for an acknowledgement lowers the ε of releases that no agent reads",
        'unread ε with release = "when-read" minus "always" is below 0 where messages are lost',
        EXPLORED,
        judge=_saves,
        experiments=(_UNREAD,),
        figure=_figure_unread,
    ),
    _claim(
        "waiting-is-free",
        "unread-releases",
        "Waiting for an acknowledgement costs no accuracy",
        'accuracy with release = "when-read" minus "always" is above −0.01 at a mean latency of two gaps',
        EXPLORED,
        judge=_costs,
        experiments=(_UNREAD,),
        reason=Reason(
            "an unstated setting",
            "the noise of a release is set for all planned releases: an agent that makes fewer has saved ε, and has used its gradients less",
            "the numbers of releases and the ε of both, which are listed here",
        ),
    ),
    _claim(
        "departures-of-others",
        "departures-of-others",
        "When five of six neighbours leave, a release of penalty perturbation costs about six times as much",
        "the pure ε of the last release with one neighbour over that with six is between 5 and 7, and so is its ε at δ = 1e-5",
        "the bounds of 5 and 7 were set around a number that was known",
        judge=_departures,
        experiments=(_DEPARTURES,),
        figure=_figure_departures,
    ),
    _claim(
        "departures-of-others-dual",
        "departures-of-others",
        "A release of dual perturbation costs the same whichever neighbour leaves",
        "the pure ε of the last release with one neighbour over that with six is within 5 % of 1, and so is its ε at δ = 1e-5",
        EXPLORED,
        judge=_steady,
        experiments=(_DEPARTURES,),
    ),
    _claim(
        "who-pays",
        "who-pays-under-churn",
        "The longer the sessions, the more unequal is what agents pay",
        "the 90th minus the 10th percentile of ε grows from sessions of 10 s to sessions of 300 s",
        EXPLORED,
        judge=_who_pays,
        experiments=(_PAYERS,),
        figure=_figure_payers,
    ),
    _claim(
        "who-gains",
        "who-pays-under-churn",
        "The longer the sessions, the more agents gain in the mean at equal availability",
        "mean gain with sessions of 300 s minus 10 s is above 0",
        EXPLORED,
        judge=_who_gains,
        experiments=(_PAYERS,),
        reason=Reason(
            "an unstated setting",
            "who is away for long does not learn at all",
            "the gains of the three lengths, which are listed here",
        ),
    ),
)
