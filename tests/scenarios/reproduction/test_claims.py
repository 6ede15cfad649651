"""The claims are complete, the kept verdicts are theirs, and the page is written from them."""

import json
import re

import pytest

from scenarios.language.reader import library_names
from scenarios.reproduction.claim import CLAIMS, Claim, Reason, in_order
from scenarios.reproduction.judgement import FAILS, HOLDS, UNDECIDED, VERDICTS, Judgement
from scenarios.reproduction.page import figures, page
from scenarios.reproduction.papers import PAPERS
from scenarios.reproduction.perform import lack
from scenarios.reproduction.results import KEPT, Results, contradictions, read
from tests.support.paths import ROOT
from tests.test_documents import writer

RESULTS = read(KEPT)
PLACES = {
    "zhang-zhu": (
        "Fig. 4",
        "Fig. 5",
        "Fig. 6",
        "Fig. 7",
        "Fig. 8",
        "Table 1",
        "Table 2",
        r"\(27\)",
    ),
    "zhang-zhu-dual": ("Fig. 2", "Fig. 3"),
    "zhang-khalili-liu": ("Fig. 1", "Fig. 2", "Fig. 3", "Fig. 4"),
    "kang": ("Fig. 1", "Fig. 2", "Figs. 3", "4, 6, 8, 10", "Figs. 12"),
    "bellet": ("Fig. 1", "Fig. 2", "Fig. 3", "Fig. 4", "Table 1"),
}
"""What each paper shows: every one of these has a claim."""


@pytest.mark.parametrize(("paper", "places"), PLACES.items())
def test_every_figure_and_table_has_a_claim(paper: str, places: tuple[str, ...]) -> None:
    mine = [claim.place for claim in CLAIMS.values() if claim.paper == paper]
    for place in places:
        assert any(re.search(place, one) for one in mine), place


def test_the_kept_results_are_those_of_the_whole_set() -> None:
    assert not RESULTS.quick
    assert [claim.name for claim in RESULTS.claims] == [claim.name for claim in in_order()]
    for kept in RESULTS.claims:
        claim = CLAIMS[kept.name]
        said = kept.paper, kept.place, kept.statement, kept.value, kept.rule
        assert said == (claim.paper, claim.place, claim.statement, claim.value, claim.rule), (
            "run hush reproduce"
        )
        assert [(c.setting, c.taken, c.changes) for c in kept.choices] == [
            (c.setting, c.taken, c.changes) for c in claim.choices
        ]


def test_every_verdict_has_its_evidence() -> None:
    for claim in RESULTS.claims:
        assert claim.verdict in VERDICTS
        assert claim.found, claim.name
        for experiment in claim.experiments:
            assert experiment.scenario in experiment.command
            assert experiment.runs > 0
            assert experiment.seeds
        assert len(claim.experiments) == len(CLAIMS[claim.name].experiments), claim.name


def test_a_claim_that_does_not_hold_says_why_and_an_undecided_one_what_would_decide_it() -> None:
    for claim in RESULTS.claims:
        assert (claim.reason is not None) == (claim.verdict == FAILS), claim.name
        assert bool(claim.decides) == (claim.verdict == UNDECIDED), claim.name


@pytest.mark.parametrize("claim", in_order(), ids=lambda claim: claim.name)
def test_a_claim_names_scenarios_of_the_library(claim: Claim) -> None:
    assert {experiment.scenario for experiment in claim.experiments} <= set(library_names())
    assert claim.name.startswith(f"{claim.paper}-") or claim.paper == "questions"


def test_the_page_is_written_from_the_kept_results() -> None:
    made = writer("write_reproduction").pages()
    for file, text in made.items():
        assert (ROOT / file).read_text("utf-8") == text, "run docs/write_reproduction.py"


def test_every_picture_of_the_page_is_there() -> None:
    text = page(RESULTS)
    for name, _ in figures(RESULTS):
        if not name.startswith("questions"):
            assert f"reproduction/{name}.svg" in text
        assert (ROOT / f"docs/reproduction/{name}.svg").is_file(), name


def test_a_data_set_that_is_not_here_is_named() -> None:
    from scenarios.planning.context import Options

    for claim in in_order():
        for experiment in claim.experiments:
            said = lack(experiment, Options())
            assert not said or "is not here" in said


def test_a_verdict_that_turns_round_is_a_contradiction() -> None:
    first = RESULTS.claims[0]

    def of(verdict: str) -> Results:
        tree = json.loads(json.dumps({"verdict": verdict}))
        return Results(1, "0", False, [type(first)(**{**_fields(first), **tree})])

    for one in VERDICTS:
        for other in VERDICTS:
            wanted = [first.name] if {one, other} == {HOLDS, FAILS} else []
            assert contradictions(of(one).claims, of(other)) == wanted


def _fields(claim: object) -> dict[str, object]:
    return {name: getattr(claim, name) for name in claim.__struct_fields__}  # type: ignore[attr-defined]


def test_a_claim_of_no_paper_and_a_reason_of_no_cause_are_errors() -> None:
    with pytest.raises(ValueError, match="no paper"):
        Claim(
            name="x",
            paper="none",
            place="p",
            statement="s",
            value="v",
            rule="r",
            judge=lambda _: Judgement(HOLDS, ("x",)),
        )
    with pytest.raises(ValueError, match="rule"):
        Claim(
            name="x",
            paper="kang",
            place="p",
            statement="s",
            value="v",
            rule="",
            judge=lambda _: Judgement(HOLDS, ("x",)),
        )
    with pytest.raises(ValueError, match="cause"):
        Reason("bad luck", "w", "t")  # type: ignore[arg-type]


def test_papers_are_cited_by_authors() -> None:
    assert all(paper.authors and paper.title for paper in PAPERS.values())
