"""The claims are complete, the kept verdicts are theirs, and the page is written from them."""

import re
import shlex

import msgspec
import pytest

from scenarios.command.arguments import parse
from scenarios.command.option_values import settings
from scenarios.command.sweep import _grid
from scenarios.language.reader import library_names
from scenarios.reproduction.claim import CLAIMS, Claim, Experiment, Reason, in_order
from scenarios.reproduction.judgement import (
    DEPENDS,
    FAILS,
    HOLDS,
    UNDECIDED,
    VERDICTS,
    Judgement,
)
from scenarios.reproduction.page import figures, in_short, page
from scenarios.reproduction.papers import PAPERS, QUESTIONS
from scenarios.reproduction.perform import lack
from scenarios.reproduction.results import (
    KEPT,
    ClaimResult,
    Results,
    Sentence,
    contradictions,
    read,
)
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
        for part in ("paper", "place", "statement", "reading", "value", "rule"):
            assert getattr(kept, part) == getattr(claim, part), f"run hush reproduce {claim.name}"
        assert kept.looked == (claim.looked or "")
        assert [(c.setting, c.taken, c.changes) for c in kept.choices] == [
            (c.setting, c.taken, c.changes) for c in claim.choices
        ]


def test_a_sentence_is_counted_once_and_its_readings_differ() -> None:
    """A statement is what a paper says; how it is read stands beside it, and not in brackets at its end."""
    for sentence in RESULTS.sentences:
        readings = [claim.reading for claim in sentence.readings]
        assert len(set(readings)) == len(readings), sentence.readings[0].statement
        assert len(readings) == 1 or all(readings), sentence.readings[0].statement
    for claim in CLAIMS.values():
        assert not re.search(r"\((?:noise|ζ|twenty|p =|η|with) ?.*\)$", claim.statement), claim.name
    assert sum(len(sentence.readings) for sentence in RESULTS.sentences) == len(RESULTS.claims)


@pytest.mark.parametrize(
    ("readings", "together"),
    [
        ((HOLDS,), HOLDS),
        ((HOLDS, HOLDS), HOLDS),
        ((FAILS, FAILS), FAILS),
        ((HOLDS, FAILS), DEPENDS),
        ((HOLDS, UNDECIDED, FAILS), DEPENDS),
        ((HOLDS, UNDECIDED), UNDECIDED),
        ((FAILS, UNDECIDED), UNDECIDED),
    ],
)
def test_a_sentence_says_what_all_its_readings_say(
    readings: tuple[str, ...], together: str
) -> None:
    first = RESULTS.claims[0]
    results = tuple(msgspec.structs.replace(first, verdict=one) for one in readings)
    assert Sentence(results).verdict == together


def test_the_page_counts_sentences() -> None:
    of_papers = [one for one in RESULTS.sentences if one.readings[0].paper != QUESTIONS]
    text = page(RESULTS)
    counted = re.search(r"^(\d+) claims of five papers.*?: (.*?)\. `hush", text, re.MULTILINE)
    assert counted is not None
    assert (int(counted[1]), counted[2]) == (len(of_papers), in_short(of_papers))
    rows = [line for line in text.splitlines() if re.match(r"\| [A-Z]", line)]
    assert len(rows) == len(of_papers)
    assert sum(map(int, re.findall(r"\d+", in_short(of_papers)))) == len(of_papers)


@pytest.mark.parametrize("quick", [False, True])
def test_an_undecided_claim_says_what_would_decide_it(*, quick: bool) -> None:
    for claim in in_order():
        judgement = Judgement(UNDECIDED, ("x",))
        decides = ClaimResult.of(claim, judgement, None, (), quick=quick).decides
        assert claim.decides in decides
        assert ("without --quick" in decides) == quick


def test_one_word_of_a_command_is_one_setting_of_its_sweep() -> None:
    """The command that is shown runs the sweep that was judged: its options are read back to the same settings."""
    for claim in in_order():
        for one in claim.experiments:
            words = shlex.split(one.command)
            assert words[:3] == ["hush", "sweep", one.scenario]
            chosen = parse(words[1:])
            assert settings(chosen.set) == dict(one.sets)
            grid = {key: list(values) for key, values in one.grid.items()}
            assert _grid(chosen.grid) == grid


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


def test_every_picture_of_the_page_is_there_and_no_other() -> None:
    text = page(RESULTS)
    for name, _ in figures(RESULTS):
        if not name.startswith("questions"):
            assert f"reproduction/{name}.svg" in text
        assert (ROOT / f"docs/reproduction/{name}.svg").is_file(), name
    files = {file.stem for file in (ROOT / "docs/reproduction").glob("*.svg")}
    assert files == {name for name, _ in figures(RESULTS)}


def test_a_data_set_that_is_not_here_is_named() -> None:
    from scenarios.planning.context import Options

    for claim in in_order():
        for experiment in claim.experiments:
            said = lack(experiment, Options())
            assert not said or "is not here" in said


def test_a_verdict_that_turns_round_is_a_contradiction() -> None:
    first = RESULTS.claims[0]

    def of(verdict: str) -> Results:
        return Results(1, "0", False, [msgspec.structs.replace(first, verdict=verdict)])

    for one in VERDICTS:
        for other in VERDICTS:
            wanted = [first.name] if {one, other} == {HOLDS, FAILS} else []
            assert contradictions(of(one).claims, of(other)) == wanted


def test_a_claim_of_no_paper_and_a_reason_of_no_cause_are_errors() -> None:
    with pytest.raises(ValueError, match="no paper"):
        Claim(
            name="x",
            paper="none",
            place="p",
            statement="s",
            reading="",
            value="v",
            rule="r",
            looked="l",
            judge=lambda _: Judgement(HOLDS, ("x",)),
        )
    with pytest.raises(ValueError, match="rule"):
        Claim(
            name="x",
            paper="kang",
            place="p",
            statement="s",
            reading="",
            value="v",
            rule="",
            looked="l",
            judge=lambda _: Judgement(HOLDS, ("x",)),
        )
    with pytest.raises(ValueError, match="looked"):
        Claim(
            name="x",
            paper="kang",
            place="p",
            statement="s",
            reading="",
            value="v",
            rule="r",
            looked="",
            judge=lambda _: Judgement(HOLDS, ("x",)),
        )
    with pytest.raises(ValueError, match="label"):
        Experiment("quickstart", sets={"run.seed": 1})
    with pytest.raises(ValueError, match="cause"):
        Reason("bad luck", "w", "t")  # type: ignore[arg-type]


def test_papers_are_cited_by_authors() -> None:
    assert all(paper.authors and paper.title for paper in PAPERS.values())
