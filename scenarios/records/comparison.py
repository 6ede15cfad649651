"""Compares final metrics of runs and sweeps, paired by seed: the data; `comparison_text` says them in words.

A *side* is a run, a sweep, or one value of an axis of a sweep. Two of its runs are a pair where their seeds are equal and
so are the settings that both sides vary. A difference is the right side minus the left, so that exchanging the sides
changes its sign and nothing else. Two seeds of one pair are one draw of data, network, clocks and noise: the interval is
over such draws, not over data sets.
"""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from scenarios.language.json_numbers import aggregate, number
from scenarios.language.problems import nearest
from scenarios.planning.metric_names import nearest_metric, split_metric
from scenarios.records.epsilon_terms import EpsilonTerms, in_words, terms_of
from scenarios.records.file_guard import FolderError
from scenarios.records.intervals import chance_of_zero, has_width, holm, interval
from scenarios.records.reader import RunRecord
from scenarios.records.sweep_record import Label, Row, SweepRecord
from scenarios.records.sweep_summary import choice_in_words, seeds_in_words

Settings = Mapping[str, Label]
SCENARIO = "scenario"
"""The axis of a sweep over several scenarios."""
HEADLINES = (
    "loss.mean",
    "accuracy.test.mean",
    "rmse.test.mean",
    "gain.mean",
    "gap",
    "epsilon.max",
    "releases.sum",
    "messages.sent",
    "messages.lost",
)
"""What is compared of single runs where no metric is named, as far as they sampled it."""
_MOST = 10_000
"""The largest number of differences: more are no table."""
_PLACES = {"origin", "sweep"}
"""Tables of a resolved scenario that say where it comes from, not what it is."""


@dataclass(frozen=True, slots=True)
class Case:
    """One finished run of a side."""

    settings: Settings
    seed: int
    metrics: Mapping[str, float]
    terms: EpsilonTerms | None


@dataclass(frozen=True, slots=True)
class Side:
    """What is compared: its name, what varies in it, and its finished runs."""

    name: str
    axes: tuple[str, ...]
    cases: tuple[Case, ...]
    metrics: tuple[str, ...]
    single: bool
    plan: Mapping[str, Any]
    """One of its scenarios in full; empty where none can be read."""
    notes: tuple[str, ...] = ()
    """Runs that have no figures, or not those of their end, in words."""


@dataclass(frozen=True, slots=True)
class Difference:
    """The difference of one metric between two settings: a mean over pairs with a t-interval.

    `mean` is NaN where no pair has two finite values, `low`, `high` and `chance` where there are fewer than two such pairs.
    """

    metric: str
    names: tuple[str, str]
    shared: Settings
    """The settings that both sides vary, which are equal."""
    own: tuple[Settings, Settings]
    """The settings that one side alone varies."""
    pairs: int
    """How many pairs have two finite values."""
    seeds: tuple[int, ...]
    """The seeds of those pairs; none where the two runs of the one pair have different seeds."""
    means: tuple[float, float]
    mean: float
    low: float
    high: float
    chance: float
    """The p-value of no difference."""
    corrected: float
    """The same, corrected for all tests of the comparison (Holm 1979)."""
    notes: tuple[str, ...]

    @property
    def excludes_zero(self) -> bool:
        """Whether 0 lies outside of the interval; never where there is no interval."""
        return self.low > 0 or self.high < 0

    @property
    def is_test(self) -> bool:
        """Whether its pairs differ by more than rounding: a count that every pair shares, or a budget, is no test of anything."""
        return has_width(self.low, self.high, self.means)


@dataclass(frozen=True, slots=True)
class Comparison:
    """Every difference between the first side and each other one."""

    sides: tuple[Side, ...]
    confidence: float
    differences: tuple[Difference, ...]
    plans: Mapping[str, Mapping[str, tuple[Any, Any]]]
    """For each side but the first, the keys of the scenario whose values differ from those of the first."""
    notes: tuple[str, ...]

    @property
    def tests(self) -> tuple[Difference, ...]:
        """The differences whose interval has a width."""
        return tuple(d for d in self.differences if d.is_test)


def side_of_run(record: RunRecord) -> Side:
    """Return a run as a side. Raises `FolderError` where it has no sample."""
    last = record.last_sample
    if not last:
        raise FolderError(f"{record.path} holds no samples to compare")
    figures = _Figures(last)
    case = Case({}, int(record.manifest["seed"]), figures, terms_of(record))
    left = (
        ()
        if record.status == "finished"
        else (f"{record.path} was {record.ended}: its figures are of its first part",)
    )
    return Side(str(record.path), (), (case,), tuple(figures), True, _plan_of(record), left)


class _Figures(Mapping[str, float]):
    """The last sample of a run; metrics of agents by any fold of them, listed as their mean."""

    def __init__(self, values: Mapping[str, Any]) -> None:
        self._values = values

    def __getitem__(self, name: str) -> float:
        import numpy as np

        if name not in self:
            raise KeyError(name)
        base, how = split_metric(name)
        value = self._values[base]
        return number(value) if how is None else aggregate(np.array([*map(number, value)]), how)

    def __contains__(self, name: object) -> bool:
        base, how = split_metric(str(name))
        return base in self._values and (how is not None) == isinstance(self._values[base], list)

    def __iter__(self) -> Iterator[str]:
        for name, value in self._values.items():
            yield f"{name}.mean" if isinstance(value, list) else name

    def __len__(self) -> int:
        return len(self._values)


def sides_of_sweep(sweep: SweepRecord, by: str | None = None) -> tuple[Side, ...]:
    """Return a sweep as a side, or with `by` each value of that axis as one. Raises `FolderError` where there is no such axis.

    Of a sweep that chose among settings, the chosen ones are compared, unless `by` is what it chose among.
    """
    axes, choice = _axes(sweep), sweep.manifest.choice
    rows = [row for row in sweep.rows if row.is_finished]
    others = [row for row in sweep.rows if not row.is_finished]
    said = list[str]()
    if choice is not None and by not in choice.over:
        axes = tuple(axis for axis in axes if axis not in choice.over)
        rows = [row for row in rows if row.chosen]
        said.append(f"{sweep.path}: chosen settings are compared: {choice_in_words(choice)}")
    if by is None:
        return (_side(sweep, str(sweep.path), axes, rows, others, said),)
    if by not in axes:
        hint = nearest(by, axes) if axes else "it varies seeds alone"
        raise FolderError(f"{sweep.path} does not vary {by!r}; {hint}")
    labels = (
        sweep.manifest.scenarios
        if by == SCENARIO
        else next(axis.labels for axis in sweep.axes if axis.name == by)
    )
    rest = tuple(axis for axis in axes if axis != by)

    def of(label: Label, among: Iterable[Row]) -> list[Row]:
        return [row for row in among if _settings(sweep, row)[by] == label]

    return tuple(
        _side(sweep, f"{by} = {_text(label)}", rest, of(label, rows), of(label, others), said)
        for label in labels
    )


def _axes(sweep: SweepRecord) -> tuple[str, ...]:
    several = (SCENARIO,) if len(sweep.manifest.scenarios) > 1 else ()
    return (*several, *(axis.name for axis in sweep.axes))


def _settings(sweep: SweepRecord, row: Row) -> dict[str, Label]:
    several = {SCENARIO: row.scenario} if len(sweep.manifest.scenarios) > 1 else {}
    return several | dict(row.settings)


def _side(
    sweep: SweepRecord,
    name: str,
    axes: tuple[str, ...],
    rows: Sequence[Row],
    others: Sequence[Row],
    said: Sequence[str],
) -> Side:
    cases, plan = list[Case](), dict[str, Any]()
    for row in rows:
        settings = {k: v for k, v in _settings(sweep, row).items() if k in axes}
        try:
            record = sweep.run(row)
            terms = terms_of(record)
            plan = plan or _plan_of(record)
        except FolderError:  # the table outlives the folders of runs
            terms = None
        cases.append(Case(settings, row.seed, row.metrics, terms))
    left = (*said, *(_unfinished(sweep, row) for row in others))
    return Side(name, axes, tuple(cases), tuple(sweep.manifest.metrics), False, plan, left)


def _unfinished(sweep: SweepRecord, row: Row) -> str:
    place = ", ".join(f"{k} = {_text(v)}" for k, v in _settings(sweep, row).items())
    why = f" ({row.message.splitlines()[0]})" if row.message else ""
    return f"{sweep.path}: {f'{place}, ' if place else ''}seed {row.seed}: {row.status}{why}"


def _text(label: Label) -> str:
    return str(label).lower() if isinstance(label, bool) else str(label)


def _plan_of(record: RunRecord) -> dict[str, Any]:
    try:
        return flat({k: v for k, v in record.resolved.items() if k not in _PLACES})
    except FolderError:
        return {}


def flat(tree: Mapping[str, Any], path: str = "") -> dict[str, Any]:
    """Return a scenario as dotted keys; entries of a list bear their name, or their number."""
    leaves: dict[str, Any] = {}
    for key, value in tree.items():
        place = f"{path}.{key}" if path else str(key)
        if isinstance(value, list) and value and all(isinstance(v, dict) for v in value):
            value = {str(v.get("name", at)): v for at, v in enumerate(value)}  # noqa: PLW2901
        if isinstance(value, Mapping) and value:
            leaves |= flat(value, place)
        else:
            leaves[place] = value
    return leaves


def plans_differ(left: Mapping[str, Any], right: Mapping[str, Any]) -> dict[str, tuple[Any, Any]]:
    """Return the keys of two flat scenarios whose values differ, with both; None where one has no such key.

    Seeds that follow the seed of the run are not listed beside it.
    """
    both = {key: (left.get(key), right.get(key)) for key in dict.fromkeys([*left, *right])}
    differ = {key: pair for key, pair in both.items() if pair[0] != pair[1]}
    of_seeds = differ.get("run.seed")
    return {
        key: pair
        for key, pair in differ.items()
        if not (key.startswith("seeds.") and pair == of_seeds)
    }


def compare(
    sides: Sequence[Side], metrics: Sequence[str] = (), confidence: float = 0.95
) -> Comparison:
    """Compare the first side with each other one, in some metrics, or in those that all of them have.

    Raises `FolderError` where a metric is unknown, and where nothing can be paired.
    """
    first, *others = sides
    for side in sides:
        if not side.cases:
            raise FolderError(f"{side.name} has no finished run to compare")
    names = tuple(metrics) or _common(sides)
    for side in sides:
        _refuse_unknown(side, names)
    differences, notes = list[Difference](), [words for side in sides for words in side.notes]
    for other in others:
        found, said = _compared(first, other, names, confidence)
        differences += found
        notes += said
    if not differences:
        raise FolderError("; ".join(["there is nothing to compare", *notes]))
    plans = {o.name: plans_differ(first.plan, o.plan) for o in others if first.plan and o.plan}
    corrected = tuple(_corrected(differences))
    return Comparison(tuple(sides), confidence, corrected, plans, tuple(dict.fromkeys(notes)))


def _common(sides: Sequence[Side]) -> tuple[str, ...]:
    """Return the metrics that all sides have: of single runs alone, those of a headline."""
    several = [side for side in sides if not side.single]
    names = several[0].metrics if several else HEADLINES
    common = tuple(
        n for n in names if all(n in case.metrics for side in sides for case in side.cases)
    )
    if not common:
        raise FolderError("the runs have no metric in common: name one with --metric")
    return common


def _refuse_unknown(side: Side, names: Sequence[str]) -> None:
    for name in names:
        if not all(name in case.metrics for case in side.cases):
            said = f"{side.name} has no metric {name!r}"
            raise FolderError(f"{said}; {nearest_metric(name, side.metrics, any_fold=False)}")


def _compared(
    left: Side, right: Side, names: Sequence[str], confidence: float
) -> tuple[list[Difference], list[str]]:
    """Return the differences between two sides, and what could not be paired."""
    shared = tuple(axis for axis in left.axes if axis in right.axes)
    groups = [_groups(side, shared) for side in (left, right)]
    differences, notes = list[Difference](), list[str]()
    met: tuple[set[Any], set[Any]] = (set(), set())
    for one, mine in groups[0].items():
        for other, theirs in groups[1].items():
            if one[0] != other[0]:
                continue
            met[0].add(one)
            met[1].add(other)
            common = sorted(mine.keys() & theirs.keys())
            if left.single and right.single and not common:
                pairs = [(next(iter(mine.values())), next(iter(theirs.values())))]
                seeds = f"{next(iter(mine))} and {next(iter(theirs))}"
                notes.append(
                    f"the seeds differ ({seeds}): so do the draws of data, network, clocks and noise"
                )
            else:
                pairs = [(mine[seed], theirs[seed]) for seed in common]
                notes += _unpaired(left, right, (mine, theirs), one[0])
            if pairs:
                settings = dict(one[0]), (dict(one[1]), dict(other[1]))
                differences += [
                    _difference(name, (left.name, right.name), settings, pairs, confidence)
                    for name in names
                ]
            if len(differences) > _MOST:
                raise FolderError(
                    f"more than {_MOST:,} differences: compare sweeps with equal axes"
                )
    for side, which, those in zip((left, right), groups, met, strict=True):
        lone = [key for key in which if key not in those]
        notes += [f"left out: {side.name} alone has {_place(key[0])}" for key in lone]
    return differences, notes


_Key = tuple[tuple[tuple[str, Label], ...], tuple[tuple[str, Label], ...]]


def _groups(side: Side, shared: Sequence[str]) -> dict[_Key, dict[int, Case]]:
    """Return the runs of a side by their settings, those that both sides vary first, and by seed."""
    groups: dict[_Key, dict[int, Case]] = {}
    for case in side.cases:
        both = tuple((axis, case.settings[axis]) for axis in shared)
        own = tuple((axis, case.settings[axis]) for axis in side.axes if axis not in shared)
        groups.setdefault((both, own), {})[case.seed] = case
    return groups


def _place(settings: Iterable[tuple[str, Label]]) -> str:
    return ", ".join(f"{axis} = {_text(label)}" for axis, label in settings) or "these runs"


def _unpaired(
    left: Side,
    right: Side,
    cases: tuple[Mapping[int, Case], Mapping[int, Case]],
    shared: Iterable[tuple[str, Label]],
) -> list[str]:
    """Name the seeds that one side alone has."""
    notes, place = [], _place(shared)
    at = f" at {place}" if place != "these runs" else ""
    for side, mine, theirs in ((left, *cases), (right, cases[1], cases[0])):
        lone = sorted(mine.keys() - theirs.keys())
        if lone:
            notes.append(f"left out: {side.name} alone has {_seeds(lone)}{at}")
    return notes


def _seeds(seeds: Sequence[int]) -> str:
    return f"{'seeds' if len(seeds) > 1 else 'seed'} {seeds_in_words(seeds)}"


def _difference(
    metric: str,
    names: tuple[str, str],
    settings: tuple[Settings, tuple[Settings, Settings]],
    pairs: Sequence[tuple[Case, Case]],
    confidence: float,
) -> Difference:
    """Return the difference of one metric over pairs of runs; pairs without two finite numbers are left out, and said."""
    said, comparable = _of_epsilon(pairs) if metric.startswith("epsilon") else ([], True)
    usable, notes = _finite(metric, pairs if comparable else ())
    means = [_mean([case.metrics[metric] for case in side]) for side in _columns(usable)]
    deltas = [other.metrics[metric] - one.metrics[metric] for one, other in usable]
    low, mean, high = math.nan, _mean(deltas), math.nan
    chance = math.nan
    if len(deltas) >= 2:
        low, mean, high = interval(deltas, confidence)
        chance = chance_of_zero(deltas)
    return Difference(
        metric=metric,
        names=names,
        shared=settings[0],
        own=settings[1],
        pairs=len(usable),
        seeds=tuple(one.seed for one, other in usable if one.seed == other.seed),
        means=(means[0], means[1]),
        mean=mean,
        low=low,
        high=high,
        chance=chance,
        corrected=chance,
        notes=(*said, *notes),
    )


def _finite(
    metric: str, pairs: Sequence[tuple[Case, Case]]
) -> tuple[list[tuple[Case, Case]], list[str]]:
    """Return the pairs with two finite values, and why the others are left out."""
    usable, missing, infinite = list[tuple[Case, Case]](), 0, 0
    for pair in pairs:
        values = [case.metrics[metric] for case in pair]
        if any(map(math.isnan, values)):
            missing += 1
        elif any(map(math.isinf, values)):
            infinite += 1
        else:
            usable.append(pair)
    counted = ((missing, "a run has no value there"), (infinite, "a value is infinite"))
    return usable, [f"{n} of {len(pairs)} pairs left out: {why}" for n, why in counted if n]


def _columns(pairs: Sequence[tuple[Case, Case]]) -> tuple[list[Case], list[Case]]:
    return [one for one, _ in pairs], [other for _, other in pairs]


def _mean(values: Sequence[float]) -> float:
    return math.fsum(values) / len(values) if values else math.nan


def _of_epsilon(pairs: Sequence[tuple[Case, Case]]) -> tuple[list[str], bool]:
    """Return what is to be said of ε on two sides, and whether they can be compared: at one δ, in one view."""
    sides = [{case.terms for case in cases if case.terms} for cases in _columns(pairs)]
    if not all(sides):
        return ["the view, δ and accountant of a side are not known: its run has no summary"], True
    words = [in_words(sorted(terms, key=str)) for terms in sides]
    if len({term.guarantee for terms in sides for term in terms}) > 1:
        return [f"not compared: one ε is of the {words[0]}, the other of the {words[1]}"], False
    both = {term for terms in sides for term in terms}
    notes = [f"ε: {in_words(sorted(both, key=str))}; upper bounds, no estimates"]
    reasons = dict.fromkeys(reason for term in both for reason in term.not_covered)
    return notes + [f"NOT COVERED by ε: {reason}" for reason in reasons], True


def _corrected(differences: Sequence[Difference]) -> Iterable[Difference]:
    """Return the differences with their p-values corrected for their number."""
    known = [at for at, difference in enumerate(differences) if difference.is_test]
    fixed = dict(zip(known, holm([differences[at].chance for at in known]), strict=True))
    for at, difference in enumerate(differences):
        yield replace(difference, corrected=fixed.get(at, difference.chance))
