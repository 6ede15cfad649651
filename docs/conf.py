"""How Sphinx makes a site of these pages: `python -m sphinx -W -b html docs BUILD` (extra `docs`).

The pages stay readable where they lie: links are links between files. What Sphinx cannot know is said here: pages of
the repository's root are on the site, too, and every link to them, from them and out of docs/ is written anew.
"""

import os
import re
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sphinx.application import Sphinx

HERE = Path(__file__).parent
ROOT = HERE.parent

project = "hush"
author = "the hush contributors"
copyright = f"2026, {author}"  # noqa: A001 # Sphinx reads this name
version = release = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"][
    "version"
]

extensions = ["myst_parser"]
source_suffix = {".md": "markdown"}
exclude_patterns = ["_build", "performance.json"]
# As hosts of Markdown give every heading an anchor; deeper than any heading of a page.
myst_heading_anchors = 6
# What is drawn by `hush` has its own colours; quotes and dashes of commands stay as they were typed.
smartquotes = False
highlight_language = "text"

html_theme = "furo"
html_static_path = ["_static"]
html_css_files = ["pages.css"]
html_title = f"hush {release}"
# Pages are read offline, too: no source that a page would have to fetch, and no text that says when they were built.
html_copy_source = False
html_show_sourcelink = False
html_last_updated_fmt = None

OUTSIDE = {
    "project/contributing": "CONTRIBUTING.md",
    "project/decisions": "DECISIONS.md",
    "project/changelog": "CHANGELOG.md",
    "project/readme": "README.md",
    "project/security": "SECURITY.md",
}
"""Pages of the site whose text is a file outside of docs/: the page there is only a place for it."""

_LINK = re.compile(
    r"(?P<mark>!?)\[(?P<text>(?:[^\[\]]|\[[^\]]*\])*)\]\((?P<to>[^)\s#]+)(?P<anchor>#[^)\s]*)?\)"
)
_FENCE = re.compile(r"^(```.*?^```[^\S\n]*$)", re.MULTILINE | re.DOTALL)


def on_the_site(text: str, source: Path, page: str) -> str:
    """Return the text of the Markdown file `source` with links as they are from `page` of the site.

    A link to a file that the site does not have (code, the licence) becomes its words.
    """
    places = {(ROOT / path).resolve(): HERE / f"{name}.md" for name, path in OUTSIDE.items()}
    from_ = (HERE / f"{page}.md").parent

    def anew(link: re.Match[str]) -> str:
        to = link["to"]
        if re.match(r"[a-z]+:", to):
            return link[0]
        target = (source.parent / to).resolve()
        target = places.get(target, target)
        if not target.is_relative_to(HERE) or target.is_dir():
            return link["text"]
        path = os.path.relpath(target, from_)
        return f"{link['mark']}[{link['text']}]({path}{link['anchor'] or ''})"

    parts = _FENCE.split(text)
    return "".join(part if part.startswith("```") else _LINK.sub(anew, part) for part in parts)


def read(app: "Sphinx", page: str, text: list[str]) -> None:
    """Give Sphinx the text of a page as the site has it."""
    source = HERE / f"{page}.md"
    if page in OUTSIDE:
        source = ROOT / OUTSIDE[page]
        text[0] = source.read_text("utf-8")
        app.env.note_dependency(str(source))
    text[0] = on_the_site(text[0], source, page)


def setup(app: "Sphinx") -> None:
    """Tell Sphinx what this file adds."""
    app.connect("source-read", read)
