"""The frame of a report: a page of its own, and a part of a notebook."""

from collections.abc import Iterable

from scenarios.pictures.html import Html, items, tag
from scenarios.pictures.report_style import page_rules, rules

_POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'"
"""The page loads nothing and runs nothing, whatever a browser would take its content for."""
_FRAGMENT = "hush-display"
Section = tuple[str, str, Html]
"""An id, a heading, and what it holds."""


def page(title: str, head: Html, sections: Iterable[Section], foot: str) -> str:
    """Return a page with a title, what stands below it, and sections; empty ones are left out."""
    full = [section for section in sections if section[2]]
    links = items(tag("a", heading, href=f"#{place}") for place, heading, _ in full)
    parts = [
        tag("section", tag("h2", heading, id=place), content, aria_labelledby=place)
        for place, heading, content in full
    ]
    content = tag(
        "div",
        tag("header", tag("h1", title), head),
        tag("nav", links, aria_label="Contents"),
        tag("main", *parts),
        tag("footer", tag("p", foot, class_="soft")),
        class_="hush",
    )
    top = tag(
        "head",
        tag("meta", charset="utf-8"),
        tag("meta", http_equiv="Content-Security-Policy", content=_POLICY),
        tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
        tag("meta", name="color-scheme", content="light dark"),
        tag("meta", name="referrer", content="no-referrer"),
        tag("title", f"{title}: report"),
        tag("style", Html(page_rules())),
    )
    return f"<!doctype html>\n{tag('html', top, tag('body', content), lang='en')}\n"


def fragment(*parts: Html) -> Html:
    """Return parts as an element for a notebook: its rules of style hold inside of it alone."""
    return tag("div", tag("style", Html(rules(_FRAGMENT))), *parts, class_=_FRAGMENT)
