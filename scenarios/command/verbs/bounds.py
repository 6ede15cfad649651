"""The verb `bounds`."""

from scenarios.command import shared_options as shared
from scenarios.command.verb import Example, Takes, Verb, option, word
from scenarios.command.verb_groups import LITERATURE

KIND = Verb(
    name="bounds",
    group=LITERATURE,
    rank=2,
    help="the papers' bounds on convergence and points, for a scenario",
    arguments=(
        word("scenario", Takes.SCENARIO, "of kind cd (convergence), admm, dvp, pvp (points)"),
        option(
            "--wakes",
            takes=Takes.VALUE,
            type=shared.some,
            nargs="+",
            default=[],
            metavar="N",
            help="cd: wakes of each agent (default 1 2 5 … 500)",
        ),
        option(
            "--norm",
            takes=Takes.VALUE,
            type=shared.above_zero,
            metavar="F",
            help="‖f⁰‖ of the reference model",
        ),
        option(
            "--error",
            takes=Takes.VALUE,
            type=shared.above_zero,
            metavar="A",
            help="α_acc: how much worse is good enough",
        ),
        option(
            "--failure",
            takes=Takes.VALUE,
            type=shared.probability,
            default=0.05,
            metavar="D",
            help="how often the bound may fail (default 0.05)",
        ),
        option(
            "--alpha",
            takes=Takes.VALUE,
            type=shared.above_zero,
            metavar="A",
            help="ε of one release (default: the scenario's)",
        ),
        shared.seed(),
        shared.JSON,
        *shared.COMMON,
    ),
    examples=(
        Example(
            "hush bounds quickstart --wakes 10 100", "convergence and noise after so many wakes"
        ),
        Example("hush bounds ./dvp.toml --error 0.01", "how many points are enough"),
    ),
    exits={2: "usage, or a scenario that no bound is known of"},
    performed_by="scenarios.command.bounds",
)
