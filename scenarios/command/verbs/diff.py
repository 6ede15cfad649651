"""The verb `diff`."""

from scenarios.command import shared_options as shared
from scenarios.command.verb import Example, Takes, Verb, word
from scenarios.command.verb_groups import UNDERSTAND

KIND = Verb(
    name="diff",
    group=UNDERSTAND,
    rank=4,
    help="the first event where two runs part, and what it did to them",
    arguments=(
        word("run", Takes.RUN, "the folder of one run", metavar="RUN"),
        word("other", Takes.RUN, "the folder of another", metavar="RUN"),
        shared.JSON,
    ),
    examples=(
        Example("hush diff runs/quickstart-7-1 latest", "an old run and the newest"),
        Example("hush diff quickstart-7-1 quickstart-8-1 --json", "the same, for programs"),
    ),
    exits={5: "two runs of one seed differ"},
    performed_by="scenarios.command.diff",
)
