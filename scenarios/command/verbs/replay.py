"""The verb `replay`."""

from scenarios.command import shared_options as shared
from scenarios.command.verb import Example, Takes, Verb, choice, option, word
from scenarios.command.verb_groups import WATCH

KIND = Verb(
    name="replay",
    group=WATCH,
    rank=4,
    help="a finished run on the live screen, or a picture of a moment",
    arguments=(
        word("run", Takes.RUN, "the run's folder", metavar="RUN"),
        option(
            "--at",
            takes=Takes.VALUE,
            metavar="T",
            help="stand at this instant (a picture: default the end)",
        ),
        option(
            "--speed",
            takes=Takes.VALUE,
            metavar="X",
            help="simulated seconds per wall second, or max",
        ),
        option(
            "--svg", takes=Takes.FILE, metavar="FILE", help="write a picture instead of showing it"
        ),
        option(
            "--size",
            takes=Takes.VALUE,
            metavar="COLUMNSxLINES",
            help="of a picture (default 100x30)",
        ),
        choice(
            "--view",
            of=("table", "grid", "crowd"),
            help="how agents are shown (default: by number)",
        ),
        option("--node", takes=Takes.VALUE, type=shared.whole, metavar="N", help="open this agent"),
        *shared.DRAWN,
    ),
    examples=(
        Example("hush replay latest", "the newest run, as it was"),
        Example("hush replay quickstart-7 --at 15s --svg moment.svg", "a picture of one moment"),
    ),
    exits={},
    performed_by="scenarios.command.replay",
)
