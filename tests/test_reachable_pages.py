"""Every page of docs/ is found from the index: the lists of docs/index.md name it, or a page that they name links to it."""

import re
from pathlib import Path

from tests.support.paths import ROOT

DOCS = ROOT / "docs"
INDEX = DOCS / "index.md"


def listed(text: str) -> set[Path]:
    """Return the pages that the lists of an index name; a name may hold `*`."""
    found: set[Path] = set()
    for inside in re.findall(r"^```\{toctree\}\n(.*?)^```", text, re.MULTILINE | re.DOTALL):
        names = [line.strip() for line in inside.splitlines()]
        names = [name for name in names if name and not name.startswith(":")]
        found |= {page.resolve() for name in names for page in DOCS.glob(f"{name}.md")}
    return found


def linked(page: Path) -> set[Path]:
    """Return the pages of docs/ that a page links to."""
    links = re.findall(r"\]\(([^)#\s]+\.md)(?:#[^)\s]*)?\)", page.read_text("utf-8"))
    targets = {(page.parent / link).resolve() for link in links if "://" not in link}
    return {target for target in targets if target.is_relative_to(DOCS) and target.is_file()}


def test_every_page_stands_in_a_list_of_the_index() -> None:
    pages = {page.resolve() for page in DOCS.rglob("*.md")} - {INDEX.resolve()}
    assert len(pages) > 20
    assert {
        page.relative_to(DOCS).as_posix() for page in pages - listed(INDEX.read_text("utf-8"))
    } == set()


def test_every_page_is_reached_by_links_from_pages_that_people_open_first() -> None:
    """On a host of Markdown the lists of the index are no links: then pages must lead to each other."""
    seen: set[Path] = set()
    waiting = [INDEX.resolve(), (ROOT / "README.md").resolve()]
    while waiting:
        page = waiting.pop()
        if page not in seen:
            seen.add(page)
            waiting += linked(page)
    stubs = {page.resolve() for page in (DOCS / "project").glob("*.md")}
    pages = {page.resolve() for page in DOCS.rglob("*.md")} - stubs
    assert {page.relative_to(DOCS).as_posix() for page in pages - seen} == set()


def test_a_list_with_a_star_names_every_page_that_it_fits() -> None:
    text = "```{toctree}\n:glob:\n:caption: Any\n\nreference\nreference/*\n```\n"
    assert DOCS / "reference.md" in listed(text)
    assert listed(text) > {DOCS / "reference/events.md", DOCS / "reference/python.md"}
    assert DOCS / "glossary.md" not in listed(text)
