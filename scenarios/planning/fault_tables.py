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

    count: int | None = key(_COUNT, words="How many agents are drawn.")
    percent: float | None = key(
        Number(low=0, high=100), words="Which share of the agents is drawn, in per cent."
    )
    neighbours_of: int | list[int] | None = key(
        Either("an id or ids", WHOLE, Many(WHOLE, 1)), words="The neighbours of these ids."
    )
    degree_above: int | None = key(WHOLE, words="The agents with more neighbours than this.")
    highest: str | None = key(
        MetricName(),
        words="The agents in which this metric is the highest; `count` says how many.",
    )
    lowest: str | None = key(
        MetricName(),
        words="The agents in which this metric is the lowest; `count` says how many.",
    )
    of: str | None = key(Name("the name of a group"), words="The group that is chosen from.")
    redraw: bool = key(Flag(), False, words="Whether each firing draws anew.")


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

    on: OnAgents = key(TARGET, REQUIRED, words="The agents.")


class LinksTable(Table):
    """An action on links, with parameters."""

    on: OnLinks = key(LINKS, REQUIRED, words="The links that touch these agents, or pairs.")


class ChanceTable(LinksTable):
    """What happens to each message with probability `p`."""

    p: float = key(SHARE, REQUIRED, words="The probability for each message.")
