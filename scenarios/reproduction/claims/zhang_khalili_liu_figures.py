"""Zhang, Khalili, Liu 2018, Figs. 1 to 4: M-ADMM, and penalties that grow beside penalties that do not."""

from functools import partial
from statistics import median
from typing import Any

import numpy as np

from scenarios.reproduction.claim import Choice, Claim, Experiment, Reason
from scenarios.reproduction.evidence import Evidence
from scenarios.reproduction.figure import Figure, Line, Points, course, line
from scenarios.reproduction.judgement import Judgement, Part, differences, judged

_ETA, _GROWTH, _START = "mechanism.eta.growth", "mechanism.noise.growth", "mechanism.noise.start"
_LOSS, _P = "loss.mean", "epsilon.printed.max"
_PENALTY = "mechanism.eta"
_CONVERGENCE = Experiment("papers/zhang-khalili-liu-figure-1")
_TRADE = Experiment("papers/zhang-khalili-liu-figure-2")
_LARGE = Experiment("papers/zhang-khalili-liu-figure-3")

_WEIGHTS = Choice(
    "C and ρ",
    "C = 1000 (20 in Figs. 3 and 4), ρ = 0.1",
    "both P(t) and the pull of the data are proportional to C: another C moves all curves alike",
)
_GRAPH = Choice(
    "the network of five nodes",
    "a complete graph (100 nodes: a random regular graph of degree 6)",
    "P(t) is divided by the degree",
)
_RATES = Choice(
    "q₁ and q₂ of the curves",
    "DVP (1, 1) and (1, 1.02), PP (1.02, 1.02) and (1.02, 1.04); found on seed 0 with α(1) = 3, then run on the seeds 1 to 10",
    "with q₂ below about q₁ the noise outgrows what larger penalties can bear, and PP is worse",
)
_ROWS = Choice(
    "rows of Adult",
    "20,000 of 45,222, drawn with the seed of the data",
    "C over the size of a data set, on which P(t) depends, would be halved",
)
_OUR = (_WEIGHTS, _GRAPH, _ROWS)


def _setting(rates: tuple[float, float], start: float) -> dict[str, float]:
    return {_ETA: rates[0], _GROWTH: rates[1], _START: start}


_PAIRS = {
    "private": ((1.02, 1.02), (1, 1), "red against magenta"),
    "accurate": ((1.02, 1.04), (1, 1.02), "blue against black"),
}
"""What of Fig. 2 is compared: (q₁, q₂) of PP and of DVP."""


def _outperforms(evidence: Evidence, start: float, pair: str) -> Judgement:
    """Judge whether PP has a smaller loss and a smaller P(T) than DVP."""
    ours, theirs, colours = _PAIRS[pair]
    parts = []
    for metric, words in ((_LOSS, "loss at T"), (_P, "P(T)")):
        ends = [
            evidence.ends(_TRADE.scenario, metric, _setting(rates, start))
            for rates in (theirs, ours)
        ]
        parts.append(
            Part(
                f"{colours}, α(1) = {start:g}: {words}, PP minus DVP",
                differences(*ends),
                below=0,
                exact=metric == _P,
            )
        )
    own = [
        evidence.mean(_TRADE.scenario, "epsilon.max", _setting(rates, start))
        for rates in (ours, theirs)
    ]
    return judged(
        parts,
        f"the largest ε of the whole run, as the ledger charges it (eavesdropper, one record of one agent replaced, δ = 1e-5, "
        f"tightest accountant): PP {own[0]:.3g}, DVP {own[1]:.3g}",
    )


def _ranges(evidence: Evidence) -> Judgement:
    """Judge whether the losses of ten runs lie closer together under PP."""
    parts = []
    said = []
    for start in (3, 5):
        for ours, theirs, colours in _PAIRS.values():
            values = [
                list(evidence.ends(_TRADE.scenario, _LOSS, _setting(rates, start)).values())
                for rates in (ours, theirs)
            ]
            off = [[abs(v - median(each)) for v in each] for each in values]
            moved = tuple(a - b for a, b in zip(*off, strict=True))
            words = f"{colours}, α(1) = {start:g}"
            parts.append(
                Part(f"{words}: distance of a loss from the median, PP minus DVP", moved, below=0)
            )
            ranges = [max(each) - min(each) for each in values]
            said.append(f"{words}: L_range of PP {ranges[0]:.3g}, of DVP {ranges[1]:.3g}")
    return judged(parts, *said)


def _by_growth_alone(evidence: Evidence) -> Judgement:
    """Judge whether a growing penalty is better than a constant one whose noise shrinks alike, at no larger P(T)."""
    constant, growing = _setting((1, 1.02), 0.9), _setting((1.02, 1.02), 3)
    loss = [evidence.ends(_TRADE.scenario, _LOSS, s) for s in (constant, growing)]
    p = [evidence.mean(_TRADE.scenario, _P, s) for s in (constant, growing)]
    said = f"P(T): constant penalty {p[0]:.4g}, growing penalty {p[1]:.4g}"
    words = "loss at T: growing penalty minus constant one, noise of both shrinking by 1.02"
    return judged([Part(words, differences(*loss), below=0)], said)


def _grid(evidence: Evidence) -> Figure:
    lines = []
    for start in (3, 5):
        for ours, theirs, _ in _PAIRS.values():
            for name, rates in (("PP", ours), ("DVP", theirs)):
                match = _setting(rates, start)
                loss = list(evidence.ends(_TRADE.scenario, _LOSS, match).values())
                p = evidence.mean(_TRADE.scenario, _P, match)
                label = f"{name} q₁ = {rates[0]:g}, q₂ = {rates[1]:g}, α(1) = {start}"
                lines.append(line(label, [Points(p, loss)]))
    title = "Zhang, Khalili, Liu 2018, Fig. 2 on Adult: L(T) against P(T), T = 100"
    return Figure(title, "P(T), the printed bound", "mean loss L(T)", lines, log="x")


def _courses(evidence: Evidence) -> Figure:
    lines: list[Line] = []
    for ours, theirs, _ in _PAIRS.values():
        for name, rates in (("PP", ours), ("DVP", theirs)):
            samples = evidence.courses(_TRADE.scenario, _LOSS, _setting(rates, 3))
            lines.append(course(f"{name} q₁ = {rates[0]:g}, q₂ = {rates[1]:g}", samples))
    title = "Zhang, Khalili, Liu 2018, Fig. 2(a) on Adult: α(1) = 3"
    return Figure(title, "iteration t", "mean loss L(t)", lines)


def _bound(evidence: Evidence) -> Judgement:
    """Judge whether the printed bound covers what releases cost."""
    slack = [
        row.metrics[_P] - row.metrics["epsilon.basic.max"] for row in evidence.rows(_TRADE.scenario)
    ]
    words = "smallest difference of P(T) and the true sum of losses over all runs"
    return judged([Part(words, (min(slack),), above=0, exact=True)])


def _own(evidence: Evidence) -> dict[str, Any]:
    """Return the setting in which each agent has a penalty of its own."""
    labels = evidence.labels(_CONVERGENCE.scenario, _PENALTY)
    return {_PENALTY: labels[0]}


def _converges(evidence: Evidence) -> Judgement:
    match = _own(evidence)
    ends = [
        tuple(evidence.ends(_CONVERGENCE.scenario, metric, match).values())
        for metric in ("gap.relative", "consensus")
    ]
    return judged(
        [
            Part("gap at t = 100 over the gap at the start", ends[0], below=0.05),
            Part("root mean square distance of agents from their mean", ends[1], below=0.01),
        ]
    )


def _slower(evidence: Evidence) -> Judgement:
    labels = evidence.labels(_CONVERGENCE.scenario, _PENALTY)[1:]
    gaps = [
        evidence.ends(_CONVERGENCE.scenario, "gap.relative", {_PENALTY: label}) for label in labels
    ]
    rates = ("1", "1.01", "1.05", "1.1")
    parts = [
        Part(f"relative gap at t = 100, q₁ = {fast} minus q₁ = {slow}", differences(a, b), above=0)
        for slow, fast, a, b in zip(rates, rates[1:], gaps, gaps[1:], strict=False)
    ]
    return judged(parts)


def _figure_1(evidence: Evidence) -> Figure:
    labels = evidence.labels(_CONVERGENCE.scenario, _PENALTY)
    names = ("own penalties", "q₁ = 1", "q₁ = 1.01", "q₁ = 1.05", "q₁ = 1.1")
    lines = [
        course(name, evidence.courses(_CONVERGENCE.scenario, _LOSS, {_PENALTY: label}))
        for name, label in zip(names, labels, strict=True)
    ]
    title = "Zhang, Khalili, Liu 2018, Fig. 1 on Adult"
    return Figure(title, "iteration t", "mean loss L(t)", lines)


def _own_steps(evidence: Evidence) -> Judgement:
    """Judge dual steps that differ from agent to agent, by a loop on quadratics whose optimum is known.

    O_i(f) = ½(f − a_i)² on a path of three agents; the optimum of the sum is the mean of a.
    """
    del evidence
    wanted, neighbours = np.array([0.0, 1.0, 5.0]), ((1,), (0, 2), (1,))
    eta, found = 1.0, []
    for theta in (np.full(3, 0.5), np.array([0.2, 0.5, 0.9])):
        f, dual = np.zeros(3), np.zeros(3)
        for _round in range(4000):
            pulls = np.array([sum(f[i] + f[j] for j in near) for i, near in enumerate(neighbours)])
            degrees = np.array([len(near) for near in neighbours])
            f = (wanted - 2.0 * dual + eta * pulls) / (1.0 + 2.0 * eta * degrees)
            apart = np.array([sum(f[i] - f[j] for j in near) for i, near in enumerate(neighbours)])
            dual = dual + 0.5 * theta * apart
        found.append((float(f.max() - f.min()), abs(float(f.mean() - wanted.mean()))))
    (_, common), (spread, own) = found
    return judged(
        [
            Part("distance to the optimum with own steps", (own,), below=1e-6, exact=True),
        ],
        f"own steps: the agents agree to {spread:.1e}, at a distance of {own:.3g} from the optimum",
        f"one step for all: distance {common:.1e}",
    )


def _large(evidence: Evidence, split: str) -> Judgement:
    parts = []
    for metric, words in ((_LOSS, "loss at T"), (_P, "P(T)")):
        ends = [
            evidence.ends(_LARGE.scenario, metric, {_ETA: q, "data.split": split})
            for q in (1, 1.02)
        ]
        parts.append(
            Part(
                f"100 agents, {split}: {words}, PP (1.02, 1.02) minus DVP (1, 1)",
                differences(*ends),
                below=0,
                exact=metric == _P,
            )
        )
    return judged(parts)


def _trade_off(evidence: Evidence) -> Judgement:
    """Judge whether, within each algorithm, the more accurate setting has the larger P(T)."""
    parts = []
    for start in (3, 5):
        for name, private, accurate in (
            ("DVP", _PAIRS["private"][1], _PAIRS["accurate"][1]),
            ("PP", _PAIRS["private"][0], _PAIRS["accurate"][0]),
        ):
            for metric, words in ((_LOSS, "loss"), (_P, "P(T)")):
                ends = [
                    evidence.ends(_TRADE.scenario, metric, _setting(rates, start))
                    for rates in (private, accurate)
                ]
                is_loss = metric == _LOSS
                parts.append(
                    Part(
                        f"{name}, α(1) = {start}: {words} with the larger q₂ minus the smaller",
                        differences(*ends),
                        above=None if is_loss else 0,
                        below=0 if is_loss else None,
                        exact=not is_loss,
                    )
                )
    return judged(parts)


def _uneven_costs(evidence: Evidence) -> Judgement:
    ends = [
        evidence.ends(_LARGE.scenario, _P, {_ETA: 1.02, "data.split": split})
        for split in ("even", "uneven")
    ]
    return judged([Part("P(T), uneven minus even", differences(*ends), above=0, exact=True)])


def _figure_3(evidence: Evidence) -> Figure:
    lines = []
    for split in ("even", "uneven"):
        for name, q in (("DVP (1, 1)", 1), ("PP (1.02, 1.02)", 1.02)):
            match = {_ETA: q, "data.split": split}
            samples = evidence.courses(_LARGE.scenario, _LOSS, match)
            lines.append(course(f"{name}, {split}", samples))
    title = "Zhang, Khalili, Liu 2018, Figs. 3 and 4: 100 agents on Adult"
    return Figure(title, "iteration t", "mean loss L(t)", lines)


_BLUE = Reason(
    "an unstated setting",
    "q₁ and q₂ of the curves are in the legend of the figure only. With ours PP has the smaller P(T), and a loss that is larger by "
    "a thousandth where noise is small already",
    "the other pair of the same figure, where noise is large and PP is better in both",
)
_NO_NUMBERS = "a figure without numbers in the text"

KINDS = (
    Claim(
        name="zhang-khalili-liu-figure-1a",
        paper="zhang-khalili-liu",
        place="Fig. 1(a), blue",
        statement="M-ADMM converges with penalties of each node's own and one dual step for all",
        value=_NO_NUMBERS,
        rule="after 100 iterations the gap to the optimum is below 5 % of that at the start, and agents agree to 0.01 (set after a first run of one seed)",
        judge=_converges,
        experiments=(_CONVERGENCE,),
        choices=_OUR,
        figure=_figure_1,
    ),
    Claim(
        name="zhang-khalili-liu-figure-1a-own-steps",
        paper="zhang-khalili-liu",
        place="Fig. 1(a), red",
        statement="The dual step θ can also differ from node to node",
        value=_NO_NUMBERS,
        rule="on quadratics with a known optimum, own steps reach it to 1e-6 in 4000 iterations",
        judge=_own_steps,
        reason=Reason(
            "the paper's text",
            "the duals no longer add up to 0, so that the agents agree on a point that is not the optimum (erratum E13); a "
            "curve of losses does not show it",
            "the same loop with one step for all nodes reaches the optimum",
        ),
    ),
    Claim(
        name="zhang-khalili-liu-figure-1b",
        paper="zhang-khalili-liu",
        place="Fig. 1(b)",
        statement="A penalty that grows slows the convergence down, the more the faster it grows",
        value=_NO_NUMBERS,
        rule="the relative gap after 100 iterations grows with q₁ = 1, 1.01, 1.05, 1.1",
        judge=_slower,
        experiments=(_CONVERGENCE,),
        choices=_OUR,
        figure=_figure_1,
    ),
    *(
        Claim(
            name=f"zhang-khalili-liu-figure-2-{pair}-{start}",
            paper="zhang-khalili-liu",
            place=f"Fig. 2({'a' if start == 3 else 'b'}), ({'c' if start == 3 else 'd'})",
            statement=f"PP outperforms DVP in accuracy and in privacy: {colours}, α(1) = {start}",
            value=_NO_NUMBERS,
            rule="over ten runs paired by seed, the loss and P(T) of PP minus those of DVP are below 0",
            judge=partial(_outperforms, start=start, pair=pair),
            experiments=(_TRADE,),
            choices=(*_OUR, _RATES),
            figure=_courses if (start, pair) == (3, "private") else _grid,
            decides="more seeds, or the q₁ and q₂ of the paper's legend",
            reason=_BLUE,
        )
        for start in (3, 5)
        for pair, (_, _, colours) in _PAIRS.items()
    ),
    Claim(
        name="zhang-khalili-liu-figure-2-range",
        paper="zhang-khalili-liu",
        place="Fig. 2(a), (b); 6.1",
        statement="PP is more stable: the losses of ten runs lie closer together",
        value=_NO_NUMBERS,
        rule="the distance of a run's loss from the median of ten, PP minus DVP, is below 0 in all four pairs (a range has no interval; L_range is listed)",
        judge=_ranges,
        experiments=(_TRADE,),
        choices=(*_OUR, _RATES),
        decides="more runs, for the pairs of almost equal spread",
        reason=_BLUE,
    ),
    Claim(
        name="zhang-khalili-liu-figure-2-trade-off",
        paper="zhang-khalili-liu",
        place="Fig. 2; 5.2",
        statement="Within DVP and within PP, accuracy is paid for by privacy",
        value=_NO_NUMBERS,
        rule="from magenta to black and from red to blue the loss falls and P(T) grows, for both α(1)",
        judge=_trade_off,
        experiments=(_TRADE,),
        choices=(*_OUR, _RATES),
        decides="more seeds",
    ),
    Claim(
        name="zhang-khalili-liu-penalty-alone",
        paper="zhang-khalili-liu",
        place="6.1",
        statement="It is the growing penalty, and not only noise that shrinks with time, that improves accuracy at the same P(T)",
        value="said in words",
        rule="at a P(T) that differs by a few per cent, the loss with q₁ = 1.02 minus that with q₁ = 1 is below 0, where the noise of both shrinks by 1.02",
        judge=_by_growth_alone,
        experiments=(_TRADE,),
        choices=(*_OUR, _RATES),
    ),
    Claim(
        name="zhang-khalili-liu-theorem-4-1",
        paper="zhang-khalili-liu",
        place="Theorem 4.1, eq. (26)",
        statement="P(T) bounds the pure ε of the whole run",
        value="1.4c₁ for each release, where ln(1 + x) is exact",
        rule="in every run P(T) minus the exact sum of losses is above 0",
        judge=_bound,
        experiments=(_TRADE,),
        choices=_OUR,
    ),
    Claim(
        name="zhang-khalili-liu-figure-3",
        paper="zhang-khalili-liu",
        place="Fig. 3",
        statement="PP outperforms DVP among 100 agents with equal data sets",
        value=_NO_NUMBERS,
        rule="over five runs paired by seed, the loss and P(T) of PP minus those of DVP are below 0",
        judge=lambda evidence: _large(evidence, "even"),
        experiments=(_LARGE,),
        choices=(*_OUR, _RATES),
        figure=_figure_3,
    ),
    Claim(
        name="zhang-khalili-liu-figure-4",
        paper="zhang-khalili-liu",
        place="Fig. 4",
        statement="PP outperforms DVP among 100 agents with unequal data sets",
        value=_NO_NUMBERS,
        rule="over five runs paired by seed, the loss and P(T) of PP minus those of DVP are below 0",
        judge=lambda evidence: _large(evidence, "uneven"),
        experiments=(_LARGE,),
        choices=(*_OUR, _RATES),
        figure=_figure_3,
    ),
    Claim(
        name="zhang-khalili-liu-figure-4-privacy",
        paper="zhang-khalili-liu",
        place="Fig. 4; 5.2",
        statement="The loss of privacy is larger with unequal data sets than with equal ones",
        value=_NO_NUMBERS,
        rule="P(T) with sizes that differ four-fold minus that with equal ones is above 0",
        judge=_uneven_costs,
        experiments=(_LARGE,),
        choices=(*_OUR, _RATES),
    ),
)
