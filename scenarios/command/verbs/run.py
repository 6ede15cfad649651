"""The verb `run`."""

from scenarios.command import shared_options as shared
from scenarios.command.verb import Example, Takes, Verb, choice, flag, option, word
from scenarios.command.verb_groups import WATCH

KIND = Verb(
    name="run",
    group=WATCH,
    rank=1,
    help="one run of a library scenario or a file; two of them side by side",
    arguments=(
        word("scenario", Takes.SCENARIO, "default: quickstart", nargs="*"),
        shared.seed(),
        shared.out("the run's folder (default runs/NAME-SEED-N)"),
        option(
            "--until",
            takes=Takes.VALUE,
            metavar="T",
            help='end earlier or later: seconds, or "250ms", "2m"',
        ),
        choice("--engine", of=("virtual", "wall"), help="overrides run.engine"),
        choice(
            "--live",
            of=("auto", "full", "lines", "json", "off"),
            alone="full",
            default="auto",
            help="how a run is shown (default auto: full on a terminal, else lines; without a word: full)",
        ),
        shared.quiet("the same as --live off"),
        option(
            "--speed",
            takes=Takes.VALUE,
            metavar="X",
            help="simulated seconds per wall second, or max",
        ),
        flag("--exit", help="leave the live screen when the run is over"),
        flag("--twice", help="run twice, name the first event that differs"),
        flag(
            "--profile",
            help="tell where processor time went; profile.svg and profile.folded go into the run's folder",
        ),
        shared.PATH,
        *shared.DRAWN,
        *shared.COMMON,
    ),
    examples=(
        Example("hush run", "the quickstart, on the live screen where there is a terminal"),
        Example("hush run ring5-dropout -s 3 -q", "another scenario and seed, without the screen"),
        Example("hush run ./world.toml --set network.loss=0.1", "a file, with one key changed"),
    ),
    exits={
        1: "an expectation failed, or every agent diverged",
        2: "usage, or a scenario that cannot run",
        3: "an invariant broke",
        4: "a verdict is unknown",
        5: "--twice: the two runs differ",
    },
    performed_by="scenarios.command.run",
)
