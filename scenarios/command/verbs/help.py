"""The verb `help`."""

from scenarios.command.verb import Example, Takes, Verb, word
from scenarios.command.verb_groups import COMMAND

KIND = Verb(
    name="help",
    group=COMMAND,
    rank=1,
    help="all verbs, or the options, examples and exit codes of one",
    arguments=(
        word("about", Takes.VERB, "a verb (default: all of them)", nargs="?", metavar="VERB"),
    ),
    examples=(
        Example("hush help", "the same as hush --help"),
        Example("hush help run", "the same as hush run --help"),
    ),
    exits={2: "there is no such verb"},
    performed_by="scenarios.command.help",
)
