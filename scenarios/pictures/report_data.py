"""The data card in a report: sizes, labels, skew and norms of the points that the agents learnt from."""

from collections.abc import Iterator, Sequence

from scenarios.pictures.html import Html, items, joined, pairs, table, tag
from scenarios.records.data_card import DataCard, Skew, Spread

_BARS = 200
"""So many bars a small picture has at most."""
_MOST_FILES = 100


def data_of(card: DataCard) -> Html:
    """Return the card of a run's points."""
    parts = [pairs(_entries(card))]
    if card.labels:
        rows = [
            (label.name, f"{label.points:,}", f"{100 * label.points / max(1, card.points):.1f} %")
            for label in card.labels
        ]
        parts.append(table("Labels of training points", ("label", "points", "share"), rows))
    parts += [_skew(card.skew, card.agents)]
    if card.files:
        files = [
            (name, tag("code", digest)) for name, digest in list(card.files.items())[:_MOST_FILES]
        ]
        whole = table("Files that the scenario read", ("file", "SHA-256"), files, texts=2)
        parts.append(
            tag("details", tag("summary", f"Files that were read ({len(card.files)})"), whole)
        )
    if card.notes:
        parts.append(items(card.notes))
    said = "These figures are exact properties of the points. They are no release, and no ε covers them"
    if card.uncovered:
        parts += [tag("p", f"{said}; nor does it cover this:"), items(card.uncovered)]
    else:
        parts.append(tag("p", f"{said}.", class_="soft"))
    return joined(parts)


def _entries(card: DataCard) -> Iterator[tuple[str, list[str]]]:
    yield (
        "source",
        [words for words in (card.title or card.source, card.citation, card.licence) if words],
    )
    yield "points", list(_points(card))
    yield "sizes", [f"{_of(card.sizes)} training points of an agent"]
    if not card.labels:
        yield (
            "labels",
            [f"mean {card.label_mean:.4g}, standard deviation {card.label_deviation:.4g}"],
        )
    yield "norms", list(_norms(card))
    if card.shared:
        yield "shared", [f"{card.shared:,} rows of the source are held several times"]
    yield "equal points", [_equal(card)]


def _points(card: DataCard) -> Iterator[str]:
    yield f"{card.points:,} training points of {card.agents:,} agents, {card.dimension:,} features"
    others = (
        (card.validation_points, "validation points, held out of training"),
        (card.test_points, "test points of agents"),
        (card.common_test_points, "common test points"),
    )
    yield from (f"{count:,} {what}" for count, what in others if count)


def _norms(card: DataCard) -> Iterator[str]:
    yield f"{_of(card.norms)} (of training rows)"
    if card.norms_before is not None:
        yield f"{card.scaled:,} rows were scaled; before that {_of(card.norms_before)}"


def _equal(card: DataCard) -> str:
    if card.duplicates is None:
        return "not looked for: there are too many numbers to compare rows"
    within, across = card.duplicates.within, card.duplicates.across
    return f"{within:,} repeat another of their agent, {across:,} are held by several agents (by value)"


def _of(spread: Spread) -> str:
    low, middle, high = (f"{value:.4g}" for value in (spread.min, spread.median, spread.max))
    return low if low == high else f"{low} to {high}, median {middle}"


def _skew(skew: Skew, agents: int) -> Html:
    """Return how far agents' labels are from those of all, in words and as bars."""
    unit = "standard deviations of all labels" if skew.kind == "mean" else skew.kind
    said = f"Label skew of the agents ({unit}): mean {skew.mean:.3g}, largest {skew.max:.3g}."
    values = sorted(skew.each) if 1 < len(skew.each) <= _BARS else skew.sorted[:_BARS]
    if len(values) < 2 or not skew.max > 0:
        return tag("p", said)
    top = max(1.0, skew.max) if skew.kind == "mean" else 1.0
    which = (
        "each agent"
        if len(values) == agents
        else f"{len(values)} evenly spaced ranks of {agents:,} agents"
    )
    caption = (
        f"{said} A bar for {which}, from the least to the largest; the frame is {top:.3g} high."
    )
    return tag("figure", _bars(values, top, caption), tag("figcaption", caption))


def _bars(values: Sequence[float], top: float, words: str) -> Html:
    """Return bars as a picture, in the colour of the words around it."""
    wide = 300 / len(values)
    bars = [
        tag(
            "rect",
            x=f"{at * wide:.2f}",
            y=f"{60 - 60 * min(1.0, value / top):.2f}",
            width=f"{max(0.5, wide - 0.6):.2f}",
            height=f"{60 * min(1.0, value / top):.2f}",
            fill="#0072b2",
        )
        for at, value in enumerate(values)
    ]
    frame = tag(
        "rect",
        x="0.5",
        y="0.5",
        width="299",
        height="59",
        fill="none",
        stroke="currentColor",
        stroke_width="0.5",
    )
    return tag(
        "svg",
        tag("title", words),
        *bars,
        frame,
        viewBox="0 0 300 60",
        role="img",
        aria_label=words,
        class_="bars",
    )
