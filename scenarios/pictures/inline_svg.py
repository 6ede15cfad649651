"""An SVG of matplotlib as a part of a page: nothing from elsewhere, ids of its own, and words for readers of screens."""

import re
from collections.abc import Mapping
from xml.etree.ElementTree import Element, ParseError, fromstring

from scenarios.pictures.html import Html, joined, tag, text
from scenarios.records.file_guard import FolderError

_SPACE = re.compile(r"\{[^}]*\}")
_REFERENCE = re.compile(r"url\(#([^)]+)\)")
_DROPPED = {"metadata", "style", "title", "desc", "script", "foreignObject", "a"}
"""Elements that are left out: rules of style would hold for the whole page, and nothing is to lead out of it."""
_POINTS = "data:image/png;base64,"
"""How an image of points begins that stands in the picture itself: a heat map has one."""
_LINES = "stroke-linejoin:round;stroke-linecap:butt"
"""What the dropped rule of matplotlib says, for this picture alone."""


def inline(svg: bytes, prefix: str, title: str, description: str) -> Html:
    """Return a picture as an element of a page. `prefix` begins all its ids: those of several pictures may be equal.

    Raises `FolderError` where the text is no SVG.
    """
    try:
        root = fromstring(svg.decode("utf-8"))  # noqa: S314 # it was written by matplotlib, in this process
    except (ParseError, UnicodeDecodeError) as error:
        raise FolderError(f"a picture is no SVG: {error}") from None
    view = root.get("viewBox")
    if _SPACE.sub("", root.tag) != "svg" or view is None:
        raise FolderError("a picture is no SVG with a viewBox")
    numbers = _numbers(root, prefix)
    named = {"labelledby": f"{prefix}-title", "describedby": f"{prefix}-desc"}
    return tag(
        "svg",
        tag("title", title, id=named["labelledby"]),
        tag("desc", description, id=named["describedby"]),
        *(_element(child, numbers) for child in root),
        xmlns="http://www.w3.org/2000/svg",
        viewBox=view,
        role="img",
        aria_labelledby=named["labelledby"],
        aria_describedby=named["describedby"],
        style=_LINES,
    )


def _numbers(root: Element, prefix: str) -> dict[str, str]:
    """Return new ids for those that something refers to, by their number: matplotlib draws them at random."""
    used = set[str]()
    for node in root.iter():
        for key, value in node.attrib.items():
            used.update(_REFERENCE.findall(value))
            if _SPACE.sub("", key) == "href":
                used.add(value.removeprefix("#"))
    ids = (node.get("id") for node in root.iter())
    return {old: f"{prefix}-{at}" for at, old in enumerate(one for one in ids if one in used)}


def _element(node: Element, numbers: Mapping[str, str]) -> Html:
    """Return an element with its children; what is not to be in a page is left out."""
    if not isinstance(node.tag, str):  # a comment
        return Html()
    name = _SPACE.sub("", node.tag)
    if name in _DROPPED:
        return Html()
    inner = [text(node.text, lines=True)] if node.text and node.text.strip() else []
    children = joined([*inner, *(_element(child, numbers) for child in node)])
    return _written(name, _attributes(node.attrib, numbers), children)


def _attributes(attributes: Mapping[str, str], numbers: Mapping[str, str]) -> dict[str, str]:
    """Return attributes with the new ids; ids that nothing refers to and references that lead out are left out."""
    kept = {}
    for key, value in attributes.items():
        plain = _SPACE.sub("", key)
        if plain == "id":
            if value in numbers:
                kept["id"] = numbers[value]
        elif plain == "href":
            if value.startswith("#") and value[1:] in numbers:
                kept["href"] = f"#{numbers[value[1:]]}"
            elif value.startswith(_POINTS):
                kept["href"] = "".join(value.split())
        elif not plain.startswith("on"):
            kept[plain] = _REFERENCE.sub(lambda match: f"url(#{numbers.get(match[1], '')})", value)
    return kept


def _written(name: str, attributes: Mapping[str, str], children: Html) -> Html:
    words = "".join(f' {key}="{text(value, lines=True)}"' for key, value in attributes.items())
    return Html(f"<{name}{words}>{children}</{name}>")
