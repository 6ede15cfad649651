"""Differences are antisymmetric, 0 of a thing with itself, and paired by seed: the interval is that of the differences."""

import math
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import msgspec
import pytest

from scenarios.records.comparison import (
    Case,
    Comparison,
    Side,
    compare,
    flat,
    plans_differ,
    side_of_run,
    sides_of_sweep,
)
from scenarios.records.comparison_text import as_tree, in_words
from scenarios.records.epsilon_terms import EpsilonTerms
from scenarios.records.file_guard import FolderError
from scenarios.records.intervals import chance_of_zero, holm, interval
from scenarios.records.reader import RunRecord
from scenarios.records.sweep_record import (
    Axis,
    Chosen,
    Row,
    SweepManifest,
    SweepRecord,
    write_manifest,
    write_table,
)
from scenarios.records.sweep_summary import summarised
from scenarios.records.sweep_text import in_words as words_of_sweep
from tests.support.builders import private, scenario
from tests.support.finished_runs import finished

EAVESDROPPER = EpsilonTerms("eavesdropper", 1e-5, "rdp")


def side(
    name: str,
    values: Mapping[int, float],
    *,
    metric: str = "loss.mean",
    terms: EpsilonTerms | None = EAVESDROPPER,
) -> Side:
    cases = tuple(Case({}, seed, {metric: value}, terms) for seed, value in values.items())
    return Side(name, (), cases, (metric,), single=False, plan={})


def grid(name: str, shift: float, axes: tuple[str, ...] = ("epsilon",)) -> Side:
    """Losses that fall with ε and are shifted; four seeds, each with its own level."""
    cases = tuple(
        Case(
            dict.fromkeys(axes, epsilon),
            seed,
            {"loss.mean": 10.0 * seed - epsilon + shift * (1 + 0.1 * seed), "gap": epsilon + seed},
            EAVESDROPPER,
        )
        for epsilon in (1.0, 2.0, 4.0)
        for seed in range(4)
    )
    return Side(name, axes, cases, ("loss.mean", "gap"), single=False, plan={})


def test_exchanging_the_sides_changes_the_sign_and_nothing_else() -> None:
    there, back = (
        compare([grid("a", 0.0), grid("b", 1.0)]),
        compare([grid("b", 1.0), grid("a", 0.0)]),
    )
    assert len(there.differences) == 6
    for one, other in zip(there.differences, back.differences, strict=True):
        assert one.mean == -other.mean
        assert (one.low, one.high) == (-other.high, -other.low)
        assert one.means == other.means[::-1]
        assert (one.chance, one.corrected) == (other.chance, other.corrected)
        assert (one.metric, one.shared, one.seeds) == (other.metric, other.shared, other.seeds)


def test_a_thing_minus_itself_is_nothing() -> None:
    for difference in compare([grid("a", 0.3), grid("a", 0.3)]).differences:
        assert difference.mean == difference.low == difference.high == 0.0
        assert (difference.chance, difference.excludes_zero) == (1.0, False)


def test_an_interval_is_that_of_the_differences_and_not_of_the_two_means() -> None:
    """Seeds spread by tens; shifts of 1, 1.1, 1.2, 1.3: their mean 1.15 ± t(3) · 0.1291/2, t(3) = 3.1824."""
    (one, *_) = compare([grid("a", 0.0), grid("b", 1.0)], ["loss.mean"]).differences
    assert one.mean == pytest.approx(1.15)
    assert one.high - one.mean == pytest.approx(3.182446 * math.sqrt(1 / 60) / 2, rel=1e-6)
    assert one.excludes_zero
    assert one.seeds == (0, 1, 2, 3)
    assert one.means[1] - one.means[0] == pytest.approx(one.mean)


def test_a_higher_confidence_gives_a_wider_interval() -> None:
    widths = [
        compare([grid("a", 0.0), grid("b", 1.0)], ["loss.mean"], p).differences[0].high
        for p in (0.5, 0.9, 0.99)
    ]
    assert widths == sorted(set(widths))


def test_zero_is_on_the_edge_of_the_interval_whose_level_is_the_chance() -> None:
    """A confidence of 1 − p puts the end of the interval on 0: the test and the interval are one."""
    for values in ([1.0, 2.0, 4.0], [-0.3, 0.1, -0.2, -0.25], [5.0, 5.1]):
        low, _, high = interval(values, 1 - chance_of_zero(values))
        assert min(abs(low), abs(high)) == pytest.approx(0.0, abs=1e-9)


def test_chances_are_corrected_as_by_hand() -> None:
    """0.01·4, then max(0.04, 0.02·3), then 0.03·2 below what came before, then 0.5·1."""
    assert holm([0.5, 0.01, 0.03, 0.02]) == [0.5, 0.04, 0.06, 0.06]
    assert holm([0.4, 0.9]) == [0.8, 0.9]
    assert holm([]) == []


def test_differences_that_all_pairs_share_are_no_tests() -> None:
    """Gaps are the same on both sides at every seed: three losses are tested, not six figures."""
    comparison = compare([grid("a", 0.0), grid("b", 1.0)])
    assert [d.metric for d in comparison.tests] == ["loss.mean"] * 3
    assert [d.corrected for d in comparison.tests] == holm([d.chance for d in comparison.tests])
    assert {d.corrected for d in comparison.differences if not d.is_test} == {1.0}


def test_seeds_without_a_partner_are_named_and_left_out() -> None:
    one, other = side("a", {0: 1.0, 1: 2.0, 7: 50.0}), side("b", {0: 2.0, 1: 5.0, 9: 80.0})
    comparison = compare([one, other])
    (difference,) = comparison.differences
    assert (difference.seeds, difference.mean) == ((0, 1), 2.0)
    assert comparison.notes == ("left out: a alone has seed 7", "left out: b alone has seed 9")


def test_settings_that_one_side_alone_has_are_named_and_left_out() -> None:
    one, other = grid("a", 0.0), grid("b", 1.0)
    fewer = replace(other, cases=tuple(c for c in other.cases if c.settings["epsilon"] != 2.0))
    comparison = compare([one, fewer], ["gap"])
    assert [d.shared for d in comparison.differences] == [{"epsilon": 1.0}, {"epsilon": 4.0}]
    assert comparison.notes == ("left out: a alone has epsilon = 2.0",)


def test_an_axis_of_one_side_alone_is_compared_with_each_setting_of_it() -> None:
    one, other = side("a", {0: 1.0, 1: 2.0}), grid("b", 1.0)
    found = compare([one, other], ["loss.mean"]).differences
    assert [d.own for d in found] == [({}, {"epsilon": e}) for e in (1.0, 2.0, 4.0)]
    assert all(d.shared == {} for d in found)


@pytest.mark.parametrize(
    ("value", "words"), [(math.nan, "no value"), (math.inf, "infinite"), (-math.inf, "infinite")]
)
def test_a_pair_without_two_finite_values_is_left_out_and_said(value: float, words: str) -> None:
    one, other = side("a", {0: 1.0, 1: 2.0, 2: 3.0}), side("b", {0: 2.0, 1: value, 2: 6.0})
    for sides, sign in (([one, other], 1), ([other, one], -1)):
        (difference,) = compare(sides).differences
        assert (difference.mean, difference.seeds) == (sign * 2.0, (0, 2))
        (note,) = difference.notes
        assert note.startswith("1 of 3 pairs left out")
        assert words in note


def test_epsilons_of_other_views_or_deltas_are_not_subtracted() -> None:
    one = side("a", {0: 1.0, 1: 2.0}, metric="epsilon.max")
    for terms in (replace_terms(view="server"), replace_terms(delta=1e-6)):
        (difference,) = compare(
            [one, side("b", {0: 2.0, 1: 4.0}, metric="epsilon.max", terms=terms)]
        ).differences
        assert math.isnan(difference.mean)
        assert "not compared" in difference.notes[0]
    terms = replace_terms(accountant="pld")
    (difference,) = compare(
        [one, side("b", {0: 2.0, 1: 4.0}, metric="epsilon.max", terms=terms)]
    ).differences
    assert difference.mean == 1.5
    assert difference.notes == (
        "ε: eavesdropper view, δ = 1e-05, accountant: pld or rdp; upper bounds, no estimates",
    )


def replace_terms(**other: object) -> EpsilonTerms:
    fields = {"view": "eavesdropper", "delta": 1e-5, "accountant": "rdp"} | other
    return EpsilonTerms(**fields)  # type: ignore[arg-type]


def test_nothing_in_common_is_an_error_that_says_so() -> None:
    with pytest.raises(
        FolderError, match=r"nothing to compare.*a alone has seed 0.*b alone has seed 1"
    ):
        compare([side("a", {0: 1.0}), side("b", {1: 1.0})])
    with pytest.raises(FolderError, match="no finished run"):
        compare([side("a", {}), side("b", {1: 1.0})])
    with pytest.raises(FolderError, match=r"did you mean 'loss.mean'"):
        compare([side("a", {0: 1.0}), side("b", {0: 1.0})], ["loss.maen"])


def test_two_plans_differ_in_the_keys_that_were_changed() -> None:
    base = flat(scenario())
    other = flat(
        scenario(network={"topology": "ring", "loss": 0.1}, nodes=[{"name": "peers", "count": 7}])
    )
    assert plans_differ(base, other) == {"network.loss": (None, 0.1), "nodes.peers.count": (6, 7)}
    assert plans_differ(base, base) == {}


def test_two_runs_have_differences_and_one_pair_no_interval() -> None:
    one, other = (finished(private(run={"seed": seed, "horizon": 20.0})) for seed in (5, 6))
    sides = [side_of_run(RunRecord(ran.outcome.folder)) for ran in (one, other)]
    comparison = compare(sides, ["loss.mean", "loss.max"])
    mine, theirs = ([*ran.result.samples()][-1]["values"]["loss"] for ran in (one, other))
    assert comparison.differences[0].mean == pytest.approx(sum(theirs) / 6 - sum(mine) / 6)
    assert comparison.differences[1].mean == pytest.approx(max(theirs) - max(mine))
    assert comparison.tests == ()
    assert comparison.notes[0].startswith("the seeds differ (5 and 6)")
    assert comparison.plans[sides[1].name] == {"run.seed": (5, 6)}
    assert "gives no interval" in "\n".join(in_words(comparison))
    whole = compare([sides[0], sides[0]])
    assert {d.mean for d in whole.differences if d.pairs} == {0.0}


def swept(path: Path) -> SweepRecord:
    axes = [
        Axis("mechanism.kind", ["mechanism.kind"], ["cd", "dvp"]),
        Axis("epsilon", ["e"], [1, 8]),
    ]
    manifest = SweepManifest(1, "finished", "0.8.0", "w", ["w"], axes, [0, 1], ["loss.mean"])
    rows = [
        Row(
            cell=2 * which + e,
            scenario="w",
            settings={"mechanism.kind": kind, "epsilon": epsilon},
            seed=seed,
            status="failed" if (kind, epsilon, seed) == ("dvp", 8, 1) else "finished",
            code=0,
            verdict="pass",
            metrics={"loss.mean": 10.0 * seed + epsilon + 2 * which},
            wall_s=None,
            run="",
            message="no disk" if (kind, epsilon, seed) == ("dvp", 8, 1) else "",
        )
        for which, kind in enumerate(("cd", "dvp"))
        for e, epsilon in enumerate((1, 8))
        for seed in (0, 1)
    ]
    write_manifest(path, manifest)
    write_table(path, manifest, rows)
    return SweepRecord(path)


def by_kind(path: Path) -> Comparison:
    return compare(sides_of_sweep(swept(path), "mechanism.kind"))


def test_values_of_one_axis_are_compared_at_equal_other_settings(tmp_path: Path) -> None:
    comparison = by_kind(tmp_path)
    assert [s.name for s in comparison.sides] == ["mechanism.kind = cd", "mechanism.kind = dvp"]
    assert [(d.shared, d.seeds, d.mean) for d in comparison.differences] == [
        ({"epsilon": 1}, (0, 1), 2.0),
        ({"epsilon": 8}, (0,), 2.0),
    ]
    words = " ".join(comparison.notes)
    assert "epsilon = 8, seed 1: failed (no disk)" in words
    assert "mechanism.kind = cd alone has seed 1 at epsilon = 8" in words
    with pytest.raises(FolderError, match=r"does not vary 'mechanism.knid'; did you mean"):
        sides_of_sweep(swept(tmp_path), "mechanism.knid")


def test_the_words_and_the_json_hold_the_same_figures(tmp_path: Path) -> None:
    comparison = by_kind(tmp_path)
    text = "\n".join(in_words(comparison))
    tree = as_tree(comparison)
    assert "mechanism.kind = dvp minus mechanism.kind = cd" in text
    assert "epsilon = 1" in text
    assert [d["mean"] for d in tree["differences"]] == [2.0, 2.0]
    assert tree["differences"][1]["low"] is None
    assert tree["reasons"]["differences.*.low"] == "an interval needs two pairs"


def test_of_a_sweep_that_chose_the_chosen_settings_are_compared_unless_the_choice_is(
    tmp_path: Path,
) -> None:
    """At ε = 1 cd was chosen, at ε = 8 dvp: between the two lie 7 of ε, and 2 of the kind."""
    record = swept(tmp_path)
    choice = Chosen("accuracy.validation.mean", ["mechanism.kind"], higher=True)
    picked = {("cd", 1), ("dvp", 8)}
    rows = [
        replace(row, chosen=tuple(row.settings.values()) in picked, status="finished")
        for row in record.rows
    ]
    write_manifest(tmp_path, msgspec.structs.replace(record.manifest, choice=choice))
    write_table(tmp_path, SweepRecord(tmp_path).manifest, rows)
    chosen = compare(sides_of_sweep(SweepRecord(tmp_path), "epsilon"))
    assert [(d.shared, d.seeds, d.mean) for d in chosen.differences] == [({}, (0, 1), 9.0)]
    assert "no ε covers the choice" in chosen.notes[0]
    candidates = compare(sides_of_sweep(SweepRecord(tmp_path), "mechanism.kind"))
    assert [d.shared for d in candidates.differences] == [{"epsilon": 1}, {"epsilon": 8}]
    assert candidates.notes == ()
    shown = summarised(SweepRecord(tmp_path))
    marked = {tuple(s.labels.values()) for s in shown.settings if s.is_chosen}
    assert marked == picked
    for width in (40, 200):
        assert "chosen" in "\n".join(words_of_sweep(shown, width))


@pytest.mark.parametrize("value", [0.1, 0.7, 1 / 3, 0.9999945487663933, -0.3])
@pytest.mark.parametrize("n", [2, 3, 7, 10])
def test_equal_values_have_themselves_as_their_interval_whatever_a_mean_rounds_to(
    value: float, n: int
) -> None:
    assert interval([value] * n, 0.95) == (value, value, value)
    assert chance_of_zero([value] * n) == 0.0


@pytest.mark.parametrize("sign", [1, -1])
def test_zero_is_outside_of_an_interval_on_either_side(sign: int) -> None:
    none, much = {0: 0.0, 1: 0.0, 2: 0.0}, {0: 1.0 * sign, 1: 1.1 * sign, 2: 1.2 * sign}
    (difference,) = compare([side("a", none), side("b", much)], ["loss.mean"]).differences
    assert difference.excludes_zero
    assert difference.mean == pytest.approx(1.1 * sign)
    (back,) = compare([side("a", much), side("b", {0: -1.0, 1: 0.0, 2: 4.0})]).differences
    assert not back.excludes_zero


def test_differences_that_rounding_alone_makes_are_no_tests() -> None:
    """The ε of runs of one budget differ in the last digit."""
    low = side("a", dict.fromkeys(range(10), 0.4999999987658162), metric="epsilon.max")
    highs = {s: 3.999999995956318 * (1 + s % 2 * 2.0**-52) for s in range(10)}
    comparison = compare([low, side("b", highs, metric="epsilon.max")])
    assert len(set(highs.values())) == 2
    assert comparison.tests == ()
    wide = {s: 4.0 * (1 + s % 2 * 1e-6) for s in range(10)}
    assert len(compare([low, side("b", wide, metric="epsilon.max")]).tests) == 1


@pytest.mark.parametrize("power", [-900, -40, 0, 3, 700, 1020])
def test_an_interval_grows_with_its_unit_however_large_that_is(power: int) -> None:
    """Losses of runs that diverge are beyond 1e200: their squares are no numbers."""
    values = [1.0, 1.5, -2.25, 3.0]
    unit = 2.0**power
    scaled = interval([v * unit for v in values], 0.9)
    assert scaled == tuple(v * unit for v in interval(values, 0.9))
    assert chance_of_zero([v * unit for v in values]) == chance_of_zero(values)
