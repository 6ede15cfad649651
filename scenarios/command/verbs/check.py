"""The verb `check`."""

from scenarios.command import shared_options as shared
from scenarios.command.verb import Example, Takes, Verb, word
from scenarios.command.verb_groups import WATCH

KIND = Verb(
    name="check",
    group=WATCH,
    rank=3,
    help="read, resolve and judge a scenario without running it",
    arguments=(
        word("scenario", Takes.SCENARIO, "names of the library, or files", nargs="+"),
        shared.seed(),
        shared.JSON,
        shared.ASCII,
        *shared.COMMON,
    ),
    examples=(
        Example("hush check ./world.toml", "every error at once; else the plan and its ε"),
        Example("hush check quickstart --set nodes.0.count=500", "what a change would cost"),
    ),
    exits={2: "usage, or a scenario that cannot run"},
    performed_by="scenarios.command.check",
)
