"""The verb `report`."""

from scenarios.command import shared_options as shared
from scenarios.command.verb import Example, Takes, Verb, word
from scenarios.command.verb_groups import UNDERSTAND

KIND = Verb(
    name="report",
    group=UNDERSTAND,
    rank=5,
    help="one page on a run or a sweep, to read without hush",
    arguments=(
        word("place", Takes.RUN | Takes.SWEEP, "the folder of a run or sweep", metavar="RUN|SWEEP"),
        shared.out("default: report.html in the folder of the run or sweep", Takes.FILE),
    ),
    examples=(
        Example("hush report latest", "the newest run or sweep, as report.html in its folder"),
        Example("hush report quickstart-sweep-1 -o losses.html", "a sweep, as a file of one's own"),
    ),
    exits={},
    performed_by="scenarios.command.report",
)
