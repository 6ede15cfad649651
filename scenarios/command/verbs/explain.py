"""The verb `explain`."""

from scenarios.command import shared_options as shared
from scenarios.command.verb import Example, Takes, Verb, word
from scenarios.command.verb_groups import UNDERSTAND

KIND = Verb(
    name="explain",
    group=UNDERSTAND,
    rank=3,
    help="the causes of one event of a run",
    arguments=(
        word("run", Takes.RUN, "the run's folder", metavar="RUN"),
        word("seq", Takes.VALUE, "the event's number", type=shared.whole, metavar="SEQ"),
        shared.JSON,
    ),
    examples=(
        Example("hush explain latest 120", "why event 120 happened, and what came of it"),
        Example("hush explain quickstart-7 120 --json", "the same, for programs"),
    ),
    exits={},
    performed_by="scenarios.command.explain",
)
