"""A data card in words: the lines that show it to a person."""

from scenarios.records.data_card import DataCard, Spread

_BLOCKS = "▁▂▃▄▅▆▇█"
_MOST_DRAWN = 60
"""Of at most so many agents each has a block; of more, some ranks have."""


def in_words(card: DataCard) -> list[str]:
    """Return a card as at most eight lines of about 100 characters."""
    lines = [
        f"  data      {_origin(card)}: {card.points:,} training points of {card.agents:,} agents, "
        f"{card.dimension:,} features{_others(card)}",
        f"  sizes     {_of(card.sizes)}{_picture(card.each_size, 0.0, card.sizes.max)}",
        f"  labels    {_labels(card)}",
        f"  skew      {_skew(card)}",
    ]
    before = (
        ""
        if card.norms_before is None
        else f"; before scaling {_of(card.norms_before)}, {card.scaled:,} rows scaled"
    )
    lines.append(f"  norms     {_of(card.norms)}{before}")
    equal = _equal(card)
    if equal:
        lines.append(f"  equal     {equal}")
    return lines


def _origin(card: DataCard) -> str:
    licence = f", {card.licence}" if card.licence else ""
    return f"{card.title or card.source}{licence}"


def _others(card: DataCard) -> str:
    parts = [
        (card.validation_points, "validation"),
        (card.test_points, "test"),
        (card.common_test_points, "common test"),
    ]
    words = [f"{count:,} {what}" for count, what in parts if count]
    return f"; {', '.join(words)} points" if words else "; no test points"


def _of(spread: Spread) -> str:
    """Return a spread: one number where all are the same."""
    low, middle, high = (f"{value:.4g}" for value in (spread.min, spread.median, spread.max))
    return low if low == high else f"{low} to {high}, median {middle}"


def _labels(card: DataCard) -> str:
    if not card.labels:
        return f"mean {card.label_mean:.4g}, standard deviation {card.label_deviation:.4g}"
    shown = [f"{label.name} {100 * label.points / card.points:.1f} %" for label in card.labels]
    return ", ".join(shown) + _shares(card)


def _shares(card: DataCard) -> str:
    """Return a picture of each agent's share of the last label."""
    if not card.each_label or card.agents > _MOST_DRAWN or card.agents < 2:
        return ""
    shares = [counts[-1] / max(1, sum(counts)) for counts in card.each_label]
    return f"{_picture(shares, 0.0, 1.0)} share of {card.labels[-1].name}, each agent"


def _skew(card: DataCard) -> str:
    skew = card.skew
    what = {"total variation": "total variation", "mean": "in standard deviations"}
    top = max(1.0, skew.max) if skew.kind == "mean" else 1.0
    few = card.agents <= _MOST_DRAWN
    drawn = _picture(skew.each if few else skew.sorted, 0.0, top)
    agents = "each agent" if few else "agents by rank"
    kind = what.get(skew.kind, skew.kind)
    shown = f"{drawn} {agents}" if drawn else ""
    return f"{skew.mean:.3g} mean, {skew.max:.3g} largest ({kind}){shown}"


def _equal(card: DataCard) -> str:
    if card.duplicates is None:
        return "not looked for: there are too many numbers to compare rows"
    words = []
    if card.duplicates.within:
        words.append(f"{card.duplicates.within:,} points repeat another of their agent")
    if card.duplicates.across:
        words.append(f"{card.duplicates.across:,} points are held by several agents")
    return f"{', '.join(words)} (by value: two people may be alike)" if words else ""


def _picture(values: list[float] | list[int], low: float, high: float) -> str:
    """Return a block for each value, with a gap before; empty for a single value, or too many."""
    if not 1 < len(values) <= _MOST_DRAWN or not high > low:
        return ""
    return "  " + "".join(
        _BLOCKS[min(7, max(0, round(7 * (value - low) / (high - low))))] for value in values
    )
