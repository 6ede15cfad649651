"""A sentence that says that something exists is searched on some seeds and judged on others."""

from collections.abc import Mapping
from typing import Any

import pytest

from scenarios.reproduction.claim import CLAIMS, Claim
from scenarios.reproduction.evidence import Evidence
from scenarios.reproduction.judgement import HOLDS, UNDECIDED

STATEMENT = "With suitable q₁ and q₂ PP outperforms DVP in accuracy and in privacy"
EXISTENTIAL = [claim for claim in CLAIMS.values() if claim.statement == STATEMENT]
SEEDS = range(4)


class Losses(Evidence):
    """By how much the loss of PP lies below that of DVP, in the search and on the other seeds; P(T) falls by `spent`."""

    def __init__(self, claim: Claim, *, searched: float, held_out: float, spent: float) -> None:
        super().__init__({})
        search, other = claim.experiments
        self._leads = {search.name: searched, other.name: held_out}
        self._spent = spent

    def ends(
        self, scenario: str, metric: str, match: Mapping[str, Any] | None = None
    ) -> dict[int, float]:
        assert match is not None
        grows = match["mechanism.eta.growth"] > 1
        lead = {"loss.mean": self._leads[scenario], "epsilon.printed.max": self._spent}.get(metric)
        return {
            seed: 1.0 + 0.001 * seed * (1 + grows) - (lead if grows and lead else 0.0)
            for seed in SEEDS
        }


def test_each_contest_of_the_figure_is_searched() -> None:
    assert len(EXISTENTIAL) == 4
    for claim in EXISTENTIAL:
        search, other = (experiment.seeds for experiment in claim.experiments)
        assert search is not None
        assert other is not None
        first, last = (tuple(map(int, seeds.split(".."))) for seeds in (search, other))
        assert first[1] < last[0], "the seeds of the search are not those of the verdict"


@pytest.mark.parametrize("claim", EXISTENTIAL, ids=lambda claim: claim.name)
@pytest.mark.parametrize(
    ("searched", "held_out", "spent", "verdict"),
    [
        (0.1, 0.1, 0.1, HOLDS),
        (
            0.1,
            -0.1,
            0.1,
            UNDECIDED,
        ),  # what was chosen fails on the other seeds: another pair may not
        (0.1, 0.001, 0.1, UNDECIDED),
        (-0.1, 0.1, 0.1, UNDECIDED),  # nothing was found
        (0.1, 0.1, -0.1, UNDECIDED),  # more accurate, and less private
    ],
)
def test_a_search_confirms_or_decides_nothing(
    claim: Claim, searched: float, held_out: float, spent: float, verdict: str
) -> None:
    evidence = Losses(claim, searched=searched, held_out=held_out, spent=spent)
    assert claim.judge(evidence).verdict == verdict
