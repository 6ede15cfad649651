"""The page and the pictures that are made of results: nothing on it is written by hand."""

from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path

import msgspec

from scenarios.planning.scenario import load
from scenarios.records.whole_file import write_whole, writing
from scenarios.reproduction.claim import EXPLORED
from scenarios.reproduction.figure import Figure
from scenarios.reproduction.judgement import DEPENDS, FAILS, HOLDS, UNDECIDED
from scenarios.reproduction.papers import PAPERS, QUESTIONS, Paper
from scenarios.reproduction.results import ClaimResult, ExperimentResult, Results, Sentence

_WORDS = {
    HOLDS: "holds",
    FAILS: "**does not hold**",
    DEPENDS: "**depends on the reading**",
    UNDECIDED: "undecided",
}
FOLDER = "reproduction"
"""The folder of the pictures, beside the page."""


def page(results: Results) -> str:
    """Return the page as Markdown, the same for the same results."""
    of_papers = msgspec.structs.replace(
        results, claims=[claim for claim in results.claims if claim.paper != QUESTIONS]
    )
    parts = [*_head(of_papers), *_table(of_papers), *_papers(of_papers), *_runs(of_papers)]
    if len(of_papers.claims) < len(results.claims):
        parts += ["", *_questions(results)]
    return "\n".join(parts) + "\n"


def question_pages(results: Results) -> dict[str, str]:
    """Return a page for each question, by the name of its sweep."""
    asked = [claim for claim in results.claims if claim.paper == QUESTIONS]
    pages = {}
    for place in dict.fromkeys(claim.place for claim in asked):
        mine = [claim for claim in asked if claim.place == place]
        read = load(f"questions/{place}").read
        lines = [
            f"# {read.summary}",
            "",
            "<!-- Written by docs/write_reproduction.py from scenarios/reproduction/reproduction.json. Do not edit. -->",
            "",
            f"`hush sweep questions/{place}` runs it; `hush reproduce {mine[0].name}` judges it as below "
            "([how](../reproduction.md)).",
            "",
        ]
        drawn = set[str]()
        for claim in mine:
            lines += _claim(claim, drawn, "../", "##")
        pages[place] = "\n".join(lines)
    return pages


def _questions(results: Results) -> Iterator[str]:
    yield "## Questions that no paper asks"
    yield ""
    yield "| question | finding | verdict |"
    yield "| --- | --- | --- |"
    for claim in results.claims:
        if claim.paper == QUESTIONS:
            yield f"| [{claim.place}](questions/{claim.place}.md) | {_cell(claim.statement)} | {_WORDS[claim.verdict]} |"


def _head(results: Results) -> Iterator[str]:
    yield "# The literature, reproduced"
    yield ""
    yield "<!-- Written by docs/write_reproduction.py from scenarios/reproduction/reproduction.json. Do not edit. -->"
    yield ""
    versions = sorted({claim.hush for claim in results.claims})
    yield (
        f"{len(results.sentences)} claims of five papers, each judged by runs of hush {' and '.join(versions)}: {in_short(results.sentences)}. "
        "`hush reproduce` runs the whole set, `hush reproduce NAME` one claim, figure or paper, `hush reproduce --quick` what "
        "takes minutes."
    )
    yield ""
    yield (
        "**What is counted.** A claim is a sentence that a paper prints. Where it leaves something open it has several *readings*, which stand "
        f"below it: {len(results.claims)} in all. A claim of which one reading holds and another does not *depends on the reading*; one of which "
        "some readings are undecided is undecided, unless two contradict each other."
    )
    yield ""
    yield (
        "**How claims are judged.** Each reading is a rule in its record: numbers, one for each seed, whose mean must lie above or below a "
        "bound. It *holds* where the t-interval of the mean lies inside, *does not hold* where it lies "
        "outside, and is *undecided* where it contains the bound or where data are missing. So *flat*, *similar* and *steady* are tests of "
        "equivalence: the whole interval lies between two bounds. The intervals of all parts of a claim "
        "hold together with 95 % (Bonferroni). A sentence that says *there is* is searched on some seeds and judged on others, and a search that finds nothing leaves it undecided. "
        "The papers' figures are pictures without numbers in their text, so what is judged is mostly an order or a sign."
    )
    yield ""
    before, after = (
        [one for one in results.sentences if one.is_registered == wanted]
        for wanted in (True, False)
    )
    yield (
        f"**Registered or set after looking.** A rule is *registered* where it, its bounds, its settings and its seeds were committed before its result; a test asks git for the order. "
        f"{len(before)} claims are: {in_short(before)}. The other {len(after)} were *set after looking*: {in_short(after)}. Their settings come from exploratory runs, and their rules and first "
        "results were committed within 21 minutes, though the set takes two hours of a worker: the history does not show which came first. Where more is known of one it stands there."
    )
    yield ""
    yield (
        "**What it does not say.** A claim that holds here holds for the settings that ran; what a paper leaves unstated is named as a "
        "choice. A claim that does not hold says whether the paper's text, its noise as printed, or an unstated setting is the reason, "
        "and which run tells them apart. Every ε names its adversary and its δ where it stands; *as printed* noise keeps no promise."
    )
    yield ""


def in_short(sentences: Iterable[Sentence]) -> str:
    """Return how many sentences have which verdict."""
    counted = Counter(one.verdict for one in sentences)
    words = {
        HOLDS: ("holds", "hold"),
        FAILS: ("does not hold", "do not hold"),
        DEPENDS: ("depends on the reading", "depend on the reading"),
        UNDECIDED: ("is undecided", "are undecided"),
    }
    return ", ".join(f"{counted[v]} {words[v][counted[v] != 1]}" for v in words)


def _table(results: Results) -> Iterator[str]:
    yield "| paper | place | claim | the paper's value | verdict | rule |"
    yield "| --- | --- | --- | --- | --- | --- |"
    for sentence in results.sentences:
        first, several = sentence.readings[0], len(sentence.readings) > 1
        places = "; ".join(dict.fromkeys(reading.place for reading in sentence.readings))
        words = first.statement if several else _linked(first, first.as_read)
        standing = "registered" if sentence.is_registered else "after looking"
        yield (
            f"| {PAPERS[first.paper].cited} | {places} | {_cell(words)} | {_cell(first.value)} | {_WORDS[sentence.verdict]} | {standing} |"
        )
        for reading in sentence.readings if several else ():
            words = _linked(reading, reading.reading)
            yield f"| | | – {_cell(words)} | | {_WORDS[reading.verdict]} | |"
    yield ""


def _linked(claim: ClaimResult, words: str) -> str:
    return f"[{words}](#{claim.name})"


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


def _papers(results: Results) -> Iterator[str]:
    for paper in PAPERS.values():
        claims = [claim for claim in results.claims if claim.paper == paper.name]
        if claims and paper.name != QUESTIONS:
            yield from _paper(paper, claims)


def _paper(paper: Paper, claims: Iterable[ClaimResult]) -> Iterator[str]:
    yield f"## {paper.cited}"
    yield ""
    yield f"*{paper.title}*"
    yield ""
    drawn = set[str]()
    for claim in claims:
        yield from _claim(claim, drawn)


def _claim(
    claim: ClaimResult, drawn: set[str], above: str = "", level: str = "###"
) -> Iterator[str]:
    yield f"{level} {claim.name}"
    yield ""
    value = "" if claim.paper == QUESTIONS else f" The paper's value: {claim.value}."
    yield f"{claim.place}: {claim.as_read}.{value} **Verdict: {claim.verdict}.**"
    yield ""
    yield f"Rule: {claim.rule}. {_standing(claim)}"
    yield ""
    for found in claim.found:
        yield f"- {found}"
    yield ""
    if claim.reason is not None:
        yield f"Reason: {claim.reason.cause}. {claim.reason.words}. What tells it apart: {claim.reason.told_apart_by}."
        yield ""
    if claim.decides:
        yield f"What would decide it: {claim.decides}."
        yield ""
    for choice in claim.choices:
        yield f"- *Choice*: {choice.setting}: {choice.taken}. If it changes: {choice.changes}."
    if claim.choices:
        yield ""
    for experiment in claim.experiments:
        yield f"Ran: {in_words(experiment)}"
        yield ""
    if claim.figure is not None and claim.figure.title not in drawn:
        drawn.add(claim.figure.title)
        yield f"![{claim.figure.title}]({above}{FOLDER}/{claim.name}.svg)"
        yield ""


def _standing(claim: ClaimResult) -> str:
    """Return what came first, the rule or a look at results."""
    if not claim.looked:
        return f"*Registered* before its result, as `{claim.rule_digest}`."
    return f"*Set after looking*{'' if claim.looked == EXPLORED else f': {claim.looked}'}."


def in_words(experiment: ExperimentResult) -> str:
    """Return what was run, in one line."""
    varied = "; ".join(experiment.settings)
    said = f"`{experiment.command}`: {experiment.runs} runs, seeds {experiment.seeds}"
    return f"{said}; {varied}" if varied else said


def _runs(results: Results) -> Iterator[str]:
    """Yield how long everything took."""
    seen: dict[str, ExperimentResult] = {}
    for claim in results.claims:
        for experiment in claim.experiments:
            seen.setdefault(experiment.command, experiment)
    minutes = sum(experiment.minutes for experiment in seen.values())
    runs = sum(experiment.runs for experiment in seen.values())
    yield "## What it took"
    yield ""
    yield f"{runs:,} runs of {len(seen)} sweeps, {minutes:.0f} minutes of one worker by the clock, without plans."
    yield ""
    yield "| sweep | runs | minutes |"
    yield "| --- | --- | --- |"
    for experiment in seen.values():
        name = f"`{experiment.scenario}`" + (f", {experiment.label}" if experiment.label else "")
        yield f"| {name} | {experiment.runs} | {experiment.minutes:g} |"


def figures(results: Results) -> Iterator[tuple[str, Figure]]:
    """Yield the figures of the page with the names of their files, without ending."""
    for paper in PAPERS:
        drawn = set[str]()
        for claim in results.claims:
            if (
                claim.paper == paper
                and claim.figure is not None
                and claim.figure.title not in drawn
            ):
                drawn.add(claim.figure.title)
                yield claim.name, claim.figure


def write_pictures(results: Results, folder: Path) -> list[Path]:
    """Draw every figure into a folder, and return the files. Raises `NoMatplotlib` where that is not installed."""
    from scenarios.pictures.draw import canvas

    image = canvas().image
    from scenarios.pictures.lines import Axes, DrawnLine, Mark, draw_lines

    with writing(folder, "made"):
        folder.mkdir(parents=True, exist_ok=True)
    written = []
    for name, figure in figures(results):
        lines = [
            DrawnLine(line.label, line.x, line.mean, line.low, line.high) for line in figure.lines
        ]
        marks = [Mark(level.label, level.y, level.x) for level in figure.levels]
        axes = Axes(figure.x, figure.y, figure.log, figure.ticks)
        made = draw_lines(
            figure.title, axes, lines, marks, ("95 % t-intervals of means over seeds",)
        )
        file = folder / f"{name}.svg"
        write_whole(file, image(made, "svg"))
        written.append(file)
    return written
