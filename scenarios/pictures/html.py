"""HTML as values: what is not `Html` already is text, and text is escaped. Names in files never become markup."""

from collections.abc import Iterable
from html import escape

from scenarios.language.visible_text import visible

_VOID = {"meta", "hr", "br", "img"}
"""Elements without an end tag."""


class Html(str):
    """A text that is HTML already; only this module makes one."""

    __slots__ = ()


def text(words: object, *, lines: bool = False) -> Html:
    """Return any words as HTML: invisible characters spelled out, then escaped. With `lines`, newlines and tabs stay."""
    return Html(escape(visible(str(words), but="\n\t" if lines else ""), quote=True))


def joined(parts: Iterable[object]) -> Html:
    """Return parts one after the other, those that are no `Html` as text."""
    return Html("".join(part if isinstance(part, Html) else text(part) for part in parts))


def tag(name: str, /, *children: object, **attributes: object) -> Html:
    """Return an element. Names of attributes may end in `_`, and `_` stands for `-`; one whose value is None is left out."""
    written = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{text(value)}"'
        for key, value in attributes.items()
        if value is not None
    )
    if name in _VOID:
        return Html(f"<{name}{written}>")
    return Html(f"<{name}{written}>{joined(children)}</{name}>")


def preformatted(words: str, **attributes: object) -> Html:
    """Return text whose lines stay as they are; it can be scrolled by keyboard."""
    return tag("pre", tag("code", text(words, lines=True)), tabindex="0", **attributes)


def table(
    caption: object,
    head: Iterable[object],
    rows: Iterable[Iterable[object]],
    *,
    texts: int = 1,
) -> Html:
    """Return a table with a caption. The first column names the rows; all columns but the first `texts` hold figures."""
    columns = [tag("th", cell, scope="col") for cell in head]
    body = []
    for row in rows:
        first, *others = row
        cells = [
            tag("td", cell, class_="figure" if at >= texts else None)
            for at, cell in enumerate(others, start=1)
        ]
        body.append(tag("tr", tag("th", first, scope="row"), *cells))
    whole = tag(
        "table",
        tag("caption", caption),
        tag("thead", tag("tr", *columns)),
        tag("tbody", *body),
    )
    return tag("div", whole, class_="wide", tabindex="0", role="region", aria_label=caption)


def pairs(entries: Iterable[tuple[object, Iterable[object]]]) -> Html:
    """Return a list of words, each with what is said of it."""
    parts = []
    for word, said in entries:
        parts += [tag("dt", word), *(tag("dd", line) for line in said)]
    return tag("dl", *parts)


def items(lines: Iterable[object], **attributes: object) -> Html:
    """Return a list, an item for each line."""
    return tag("ul", *(tag("li", line) for line in lines), **attributes)
