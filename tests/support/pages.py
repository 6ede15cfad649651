"""HTML pages as tests read them: every element closed where it should be, ids unique, nothing from elsewhere."""

from dataclasses import dataclass, field
from html.parser import HTMLParser

VOID = {"meta", "hr", "br", "img"}


@dataclass
class Page:
    """What a page holds."""

    elements: list[tuple[str, dict[str, str | None]]] = field(default_factory=list)
    words: list[str] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)

    def named(self, *names: str) -> list[dict[str, str | None]]:
        return [attributes for name, attributes in self.elements if name in names]

    @property
    def text(self) -> str:
        return " ".join(self.words)

    def values(self, attribute: str) -> list[str]:
        return [a[attribute] or "" for _, a in self.elements if attribute in a]


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.page = Page()
        self.open: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        names = [name for name, _ in attrs]
        if len(set(names)) != len(names):
            self.page.problems.append(f"<{tag}> has an attribute twice: {names}")
        self.page.elements.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if not self.open or self.open.pop() != tag:
            self.page.problems.append(f"</{tag}> closes another element")

    def handle_data(self, data: str) -> None:
        if data.strip() and not (self.open and self.open[-1] == "style"):
            self.page.words.append(data.strip())

    def handle_comment(self, data: str) -> None:
        self.page.problems.append(f"a comment: {data[:40]}")


def read(text: str) -> Page:
    """Read a page; what is wrong with its form stands in `problems`."""
    reader = _Reader()
    reader.feed(text)
    reader.close()
    if reader.open:
        reader.page.problems.append(f"never closed: {reader.open}")
    page = reader.page
    ids = page.values("id")
    page.problems += [
        f"the id {one} is there twice" for one in {i for i in ids if ids.count(i) > 1}
    ]
    targets = [value[1:] for value in page.values("href") if value.startswith("#")]
    spoken = [one for key in ("aria-labelledby", "aria-describedby") for one in page.values(key)]
    lost = set(targets + [word for one in spoken for word in one.split()]) - set(ids)
    page.problems += [f"nothing has the id {one}" for one in sorted(lost)]
    for key in ("src", "href", "data", "action"):
        outside = [v for v in page.values(key) if not v.startswith(("#", "data:image/png;"))]
        page.problems += [f"{key} leads out: {value[:60]}" for value in outside]
    return page
