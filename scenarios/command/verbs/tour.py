"""The verb `tour`."""

from scenarios.command import shared_options as shared
from scenarios.command.verb import Example, Takes, Verb, option
from scenarios.command.verb_groups import WATCH

KIND = Verb(
    name="tour",
    group=WATCH,
    rank=0,
    help="the first minute: the quickstart with eight captions",
    arguments=(
        shared.out("the run's folder (default runs/quickstart-SEED-N)"),
        option(
            "--speed",
            takes=Takes.VALUE,
            metavar="X",
            help="simulated seconds per wall second between captions (default 2)",
        ),
        *shared.DRAWN,
    ),
    examples=(
        Example("hush tour", "captions on the live screen; space goes on, q leaves"),
        Example("hush tour --out /tmp/first", "the same, with the run in a folder of your choice"),
    ),
    exits={},
    performed_by="scenarios.command.tour",
)
