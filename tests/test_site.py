"""The site that Sphinx makes of the pages: every link leads somewhere, and nothing is loaded from elsewhere.

HUSH_SITE names a site that was built already, as `.ci/run` and `nox -s docs` do; without it the site is built here,
where the extra `docs` is installed.
"""

import importlib.util
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from types import ModuleType
from typing import NamedTuple
from urllib.parse import unquote, urlsplit

import pytest

from tests.support.page_blocks import pages
from tests.support.paths import ROOT

LOADS = {
    "script": ("src",),
    "img": ("src", "srcset"),
    "iframe": ("src",),
    "object": ("data",),
    "embed": ("src",),
    "video": ("src", "poster"),
    "audio": ("src",),
    "source": ("src", "srcset"),
    "image": ("href", "xlink:href"),
    "use": ("href", "xlink:href"),
}
"""Attributes by which an element makes a browser fetch something, whatever it is for."""

LOADED_RELATIONS = {"stylesheet", "icon", "shortcut", "preload", "prefetch", "preconnect", "manifest"}  # fmt: skip


class Link(NamedTuple):
    """An address on a page, and whether a browser fetches it without being asked."""

    address: str
    loaded: bool


class Reader(HTMLParser):
    """Collects the links and the ids of a page."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.links: list[Link] = []
        self.ids: set[str] = set()
        self.text: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        named = {name: value or "" for name, value in attrs}
        self.ids |= {named[key] for key in ("id", "name") if key in named}
        self.links += [Link(named[key], True) for key in LOADS.get(tag, ()) if key in named]
        if tag == "a" and "href" in named:
            self.links.append(Link(named["href"], False))
        if tag == "link":
            relations = set(named.get("rel", "").split())
            self.links.append(Link(named.get("href", ""), bool(relations & LOADED_RELATIONS)))
        self.links += [
            Link(one, True) for one in re.findall(r"url\((.*?)\)", named.get("style", ""))
        ]

    def handle_data(self, data: str) -> None:
        self.text.append(data)


def read(text: str) -> Reader:
    reader = Reader()
    reader.feed(text)
    reader.close()
    return reader


def elsewhere(address: str) -> bool:
    return bool(urlsplit(address).netloc) or urlsplit(address).scheme not in {"", "data"}


def in_styles(text: str) -> list[str]:
    """Return the addresses that a style sheet fetches."""
    return [
        one.strip("'\" ")
        for one in [
            *re.findall(r"url\((.*?)\)", text),
            *re.findall(r"@import\s+[\"'](.*?)[\"']", text),
        ]
    ]


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    built = os.environ.get("HUSH_SITE")
    if built:
        return Path(built)
    if any(importlib.util.find_spec(name) is None for name in ("sphinx", "myst_parser", "furo")):
        pytest.skip("the extra docs is not installed; .ci/run builds the site")
    place = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "sphinx", "-W", "-q", "-b", "html", str(ROOT / "docs"), str(place)]  # fmt: skip
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return place


@pytest.fixture(scope="module")
def made(site: Path) -> dict[Path, Reader]:
    """Return every page of the site, as it was read."""
    return {path: read(path.read_text("utf-8")) for path in sorted(site.rglob("*.html"))}


def lost_links(made: dict[Path, Reader], site: Path) -> Iterator[str]:
    """Yield the links inside of the site that lead to no file, or to no place of a page."""
    for path, page in made.items():
        for link in page.links:
            if elsewhere(link.address) or link.address.startswith("data:"):
                continue
            parts = urlsplit(link.address)
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path.resolve()
            known = {one.resolve(): other for one, other in made.items()}
            inside = target.is_relative_to(site.resolve()) and target.exists()
            there = known[target].ids if target in known else {unquote(parts.fragment)}
            if not inside or unquote(parts.fragment) not in there | {"", "top"}:
                yield f"{path.relative_to(site)}: {link.address}"


@pytest.mark.slow
def test_every_page_is_on_the_site(made: dict[Path, Reader], site: Path) -> None:
    there = {path.relative_to(site).with_suffix("").as_posix() for path in made}
    inside = {page.removeprefix("docs/").removesuffix(".md") for page in pages() if "/" in page}
    assert inside <= there
    assert {f"project/{name}" for name in ("readme", "contributing", "decisions", "changelog")} <= there  # fmt: skip


@pytest.mark.slow
def test_every_link_of_the_site_leads_somewhere(made: dict[Path, Reader], site: Path) -> None:
    assert list(lost_links(made, site)) == []


@pytest.mark.slow
def test_the_site_loads_nothing_from_elsewhere(made: dict[Path, Reader], site: Path) -> None:
    """No script, picture, font or style: it reads the same from a disk without a network."""
    fetched = [
        f"{path.relative_to(site)}: {link.address}"
        for path, page in made.items()
        for link in page.links
        if link.loaded and elsewhere(link.address)
    ]
    fetched += [
        f"{path.relative_to(site)}: {address}"
        for path in site.rglob("*.css")
        for address in in_styles(path.read_text("utf-8"))
        if elsewhere(address)
    ]
    fetched += [
        f"{path.relative_to(site)}: {host}"
        for path in site.rglob("*.svg")
        for host in re.findall(
            r"(?:href|src)\s*=\s*[\"'](https?://[^\"']+)", path.read_text("utf-8")
        )
    ]
    assert fetched == []


@pytest.mark.slow
def test_pages_of_the_repository_s_root_have_their_text_on_the_site(
    made: dict[Path, Reader], site: Path
) -> None:
    text = " ".join(made[site / "project/decisions.html"].text)
    assert "A turn is a row" in text
    assert "On the site this page has the text of" not in text


def configuration() -> ModuleType:
    spec = importlib.util.spec_from_file_location("site_configuration", ROOT / "docs/conf.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_links_are_those_of_the_site() -> None:
    conf = configuration()
    docs = ROOT / "docs"
    text = "[a](../DECISIONS.md#one) [b](faults.md) [c](../tests/test_site.py) [d](https://x.org)\n```sh\n[e](../LICENSE)\n```\n"
    assert conf.on_the_site(text, docs / "glossary.md", "glossary") == (
        "[a](project/decisions.md#one) [b](faults.md) c [d](https://x.org)\n```sh\n[e](../LICENSE)\n```\n"
    )
    assert conf.on_the_site("![p](docs/a.svg) [q](LICENSE)", ROOT / "README.md", "project/readme") == "![p](../a.svg) q"  # fmt: skip


def test_every_page_of_the_root_has_its_place() -> None:
    conf = configuration()
    for name, path in conf.OUTSIDE.items():
        assert (ROOT / path).is_file()
        place = (ROOT / f"docs/{name}.md").read_text("utf-8")
        assert f"(../../{path})" in place


def test_what_a_page_would_fetch_is_found() -> None:
    text = '<img src="https://a.b/c.png"><link rel="stylesheet" href="//a.b/c.css"><a href="https://a.b">x</a><p style="background: url(http://a.b/d.png)" id="here">'
    page = read(text)
    assert [link.address for link in page.links if link.loaded and elsewhere(link.address)] == [
        "https://a.b/c.png",
        "//a.b/c.css",
        "http://a.b/d.png",
    ]
    assert in_styles('@import "http://a.b/e.css"; a { b: url("//c.d/f.woff") }') == [
        "//c.d/f.woff",
        "http://a.b/e.css",
    ]
    assert page.ids == {"here"}


def test_a_link_to_nowhere_is_found(tmp_path: Path) -> None:
    (tmp_path / "a.html").write_text(
        '<a href="b.html"></a><a href="#c"></a><a href="#d" id="d"></a>'
    )
    made = {tmp_path / "a.html": read((tmp_path / "a.html").read_text())}
    assert list(lost_links(made, tmp_path)) == ["a.html: b.html", "a.html: #c"]
