"""The verb `compare`."""

from scenarios.command import shared_options as shared
from scenarios.command.verb import Example, Takes, Verb, option, word
from scenarios.command.verb_groups import MANY

KIND = Verb(
    name="compare",
    group=MANY,
    rank=2,
    help="differences of runs and sweeps, with intervals, paired by seed",
    arguments=(
        word(
            "place",
            Takes.RUN | Takes.SWEEP,
            "the first is compared with each other one",
            nargs="+",
            metavar="RUN|SWEEP",
        ),
        option(
            "--by",
            takes=Takes.VALUE,
            metavar="AXIS",
            help="compare the values of one axis inside of one sweep",
        ),
        option(
            "--metric",
            takes=Takes.METRIC,
            action="append",
            default=[],
            metavar="NAME",
            help="such as loss.mean; repeatable (default: all of a sweep, the headlines of runs)",
        ),
        shared.confidence(),
        shared.JSON,
    ),
    examples=(
        Example("hush compare quickstart-7-1 quickstart-7-2", "two runs"),
        Example("hush compare quickstart-sweep-1 --by network.loss", "the values of one axis"),
    ),
    exits={},
    performed_by="scenarios.command.compare",
)
