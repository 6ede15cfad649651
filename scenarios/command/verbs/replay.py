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
            "--svg",
            takes=Takes.FILE,
            metavar="FILE",
            help="write a picture instead of showing it; with --from, --to or --fps one that moves",
        ),
        option(
            "--from",
            takes=Takes.VALUE,
            dest="begins",
            metavar="T",
            help="the first instant of a picture that moves (default 0s)",
        ),
        option(
            "--to",
            takes=Takes.VALUE,
            dest="ends",
            metavar="T",
            help="its last instant (default the end)",
        ),
        option(
            "--fps",
            takes=Takes.VALUE,
            metavar="N",
            help="its frames a second (default 2); --speed says how fast time goes (default 1)",
        ),
        option(
            "--size",
            takes=Takes.VALUE,
            metavar="COLUMNSxLINES",
            help="of a picture (default 100x30)",
        ),
        choice(
            "--view",
            of=("table", "grid", "crowd", "network"),
            help="how agents are shown (default: by number)",
        ),
        option("--node", takes=Takes.VALUE, type=shared.whole, metavar="N", help="open this agent"),
        *shared.DRAWN,
    ),
    examples=(
        Example("hush replay latest", "the newest run, as it was"),
        Example("hush replay quickstart-7 --at 15s --svg moment.svg", "a picture of one moment"),
        Example("hush replay latest --svg run.svg --fps 2 --view network", "a picture that moves"),
    ),
    exits={},
    performed_by="scenarios.command.replay",
)
