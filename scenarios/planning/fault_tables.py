"""What the actions of faults share (reference.md, section 4): targets and links."""

from scenarios.language.table_rules import (
    REQUIRED,
    Many,
    SubTable,
    Table,
    key,
)
from scenarios.language.value_rules import (
    Either,
    Flag,
    Name,
    Number,
    count,
    positive,
)
from scenarios.planning.metric_names import MetricName

WHOLE = count(0)
_COUNT = count()
POSITIVE = positive()
SHARE = Number(low=0, high=1)
"""A probability."""


CHOICES = ("count", "percent", "neighbours_of", "degree_above", "highest", "lowest")


class ChoiceTable(Table):
    """A choice of agents, made when a fault fires."""

    count: int | None = key(_COUNT)
    percent: float | None = key(Number(low=0, high=100))
    neighbours_of: int | list[int] | None = key(Either("an id or ids", WHOLE, Many(WHOLE, 1)))
    degree_above: int | None = key(WHOLE)
    highest: str | None = key(MetricName())
    lowest: str | None = key(MetricName())
    of: str | None = key(Name("the name of a group"))
    redraw: bool = key(Flag(), False)


TARGET_WORDS = ("all", "one", "minority", "majority", "server", "event")
_TARGET_SAYS = 'ids, the name of a group, "one", or a choice: [3, 4], "phones", { count = 2 }'
TARGET = Either(_TARGET_SAYS, Name(), Many(WHOLE, 1), SubTable(ChoiceTable))
LINKS = Either(
    f"{_TARGET_SAYS}; or pairs such as [[1, 2]]",
    Name(),
    Many(WHOLE, 1),
    Many(Many(WHOLE, 2, 2), 1),
    SubTable(ChoiceTable),
)
OnAgents = str | list[int] | ChoiceTable
"""The agents that a fault names, or how it chooses them."""
OnLinks = str | list[int] | list[list[int]] | ChoiceTable


class AgentsTable(Table):
    """An action on agents, with parameters."""

    on: OnAgents = key(TARGET, REQUIRED)


class LinksTable(Table):
    """An action on links, with parameters."""

    on: OnLinks = key(LINKS, REQUIRED)


class ChanceTable(LinksTable):
    """What happens to each message with probability `p`."""

    p: float = key(SHARE, REQUIRED)
