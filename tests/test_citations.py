"""Every place that code or a page cites exists: headings, errata, decisions, links."""

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from tests.support.paths import ROOT

PACKAGES = ("actors", "clocks", "hush", "mechanisms", "scenarios")
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])
LIVING = [page for page in PAGES if page.name != "CHANGELOG.md"]
"""Pages that speak of today; the change log keeps the names of its time."""

_LABEL = r"(?:Proposition P|[AEO]\d{1,2}(?:-smooth|[a-c]\b)?|\d+(?:\.\d+)?)"
_CITED = re.compile(
    rf"(theory|reference)\.md,? (?:sections? )?({_LABEL}(?:(?:,? and |, | to ){_LABEL})*)",
    re.IGNORECASE,
)
_NAMED = re.compile(r"\b(theory|reference)\.md(?![\w\"'#])", re.IGNORECASE)
_LINK = re.compile(r"\]\(([^)#\s]*)(#[^)\s]*)?\)")
_GONE = re.compile(r"\b(?:contract|design|modern|house|style|speed|places)\.md|\bcontract, section")


def sources() -> Iterator[Path]:
    """Yield the files that cite pages: code, scenarios and tests, but for this one."""
    for folder in (*PACKAGES, "tests", "docs", "benchmarks"):
        for kind in ("*.py", "*.toml"):
            yield from (p for p in sorted((ROOT / folder).rglob(kind)) if p != Path(__file__))


def headings(page: Path) -> list[str]:
    """Return the headings of a page, outside of its code blocks."""
    text = re.sub(r"^```.*?^```", "", page.read_text("utf-8"), flags=re.MULTILINE | re.DOTALL)
    return re.findall(r"^#+ (.+)$", text, flags=re.MULTILINE)


@cache
def labels(name: str) -> set[str]:
    """Return what can be cited of a page: `2.3`, `E20`, `A10-smooth`, `Proposition P`; parts such as `A6b` in bold."""
    page = ROOT / "docs" / f"{name}.md"
    found = {heading.split(" ")[0].rstrip(".:") for heading in headings(page)}
    found |= {"Proposition P" for heading in headings(page) if "Proposition P" in heading}
    return found | set(re.findall(r"^- \*\*(A\d+[a-c])\*\*", page.read_text("utf-8"), re.MULTILINE))


def anchor(heading: str) -> str:
    """Return the anchor of a heading, as hosts of Markdown make it."""
    kept = re.sub(r"[^\w\- ]", "", heading.lower())
    return "#" + kept.replace(" ", "-")


def dangling(text: str) -> list[str]:
    """Return the citations of a text that lead nowhere."""
    lost = [f"{match.group(0)} is no page of docs/" for match in _GONE.finditer(text)]
    for match in _CITED.finditer(text):
        page = match.group(1).lower()
        lost += [
            f"{page}.md has no heading {label}"
            for label in re.findall(_LABEL, match.group(2))
            if label not in labels(page)
        ]
    cited = {match.start() for match in _CITED.finditer(text)}
    lost += [
        f"'{text[m.start() : m.end() + 20]}' names no heading"
        for m in _NAMED.finditer(text)
        if m.start() not in cited and text[m.start() - 5 : m.start()] != "docs/"
    ]
    known = labels("theory")
    lost += [
        f"({label}) is no erratum of theory.md"
        for label in re.findall(r"\b(?<![-+*/^.₀])E\d{1,2}\b(?=[,):;.]| and| to| \()", text)
        if label not in known
    ]
    lost += [
        f"DECISIONS.md has no number {number}"
        for number in re.findall(r"DECISIONS(?:\.md)?,? #(\d+)", text)
        if number not in decisions()
    ]
    return lost


@cache
def decisions() -> set[str]:
    """Return the numbers of all decisions."""
    return set(re.findall(r"^(\d+)\. ", (ROOT / "DECISIONS.md").read_text("utf-8"), re.MULTILINE))


def test_every_citation_in_code_leads_to_a_heading() -> None:
    lost = [
        f"{path.relative_to(ROOT)}: {problem}"
        for path in sources()
        for problem in dangling(path.read_text("utf-8"))
    ]
    assert lost == []


@pytest.mark.parametrize("page", LIVING, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_every_link_of_a_page_leads_somewhere(page: Path) -> None:
    lost = []
    for target, fragment in _LINK.findall(page.read_text("utf-8")):
        if target.startswith(("http:", "https:", "mailto:")):
            continue
        path = (page.parent / target) if target else page
        if not path.exists():
            lost.append(target)
        elif fragment and fragment not in {anchor(heading) for heading in headings(path)}:
            lost.append(target + fragment)
    assert lost == []


@pytest.mark.parametrize("page", LIVING, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_every_file_that_a_page_names_is_there(page: Path) -> None:
    folders = "|".join((*PACKAGES, "tests", "docs", "benchmarks"))
    named = re.findall(rf"`((?:{folders})/[\w./-]*)`", page.read_text("utf-8"))
    assert [name for name in named if not (ROOT / name).exists()] == []


def test_decisions_cite_decisions_that_exist() -> None:
    text = (ROOT / "DECISIONS.md").read_text("utf-8")
    numbers = [int(number) for number in re.findall(r"^(\d+)\. ", text, re.MULTILINE)]
    assert numbers == sorted(set(numbers)), "each number once, in order"
    assert set(re.findall(r"#(\d+)", text)) <= decisions()


@pytest.mark.parametrize(
    "text",
    [
        "the loss law (theory.md, 5.9)",
        "theory.md, 2.2 and E99",
        "theory.md says so",
        "the vocabulary (contract, section 4)",
        "see design.md",
        "as printed (E77)",
        "because of DECISIONS.md #9999",
    ],
)
def test_a_citation_that_leads_nowhere_is_reported(text: str) -> None:
    assert dangling(text) != []
