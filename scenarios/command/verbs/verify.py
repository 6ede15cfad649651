"""The verb `verify`."""

from scenarios.command import shared_options as shared
from scenarios.command.verb import Example, Takes, Verb, word
from scenarios.command.verb_groups import UNDERSTAND

KIND = Verb(
    name="verify",
    group=UNDERSTAND,
    rank=7,
    help="whether the folder of a run or a sweep is as it was left",
    arguments=(
        word("place", Takes.RUN | Takes.SWEEP, "the folder of a run or sweep", metavar="RUN|SWEEP"),
        shared.JSON,
    ),
    examples=(
        Example("hush verify latest", "the newest run or sweep: files, record, summary, ε"),
        Example("hush verify quickstart-7-1 --json", "the same for a program"),
    ),
    exits={0: "nothing is damaged; the run may have been cut off"},
    performed_by="scenarios.command.verify",
)
