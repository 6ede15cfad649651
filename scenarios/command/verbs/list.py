"""The verb `list`."""

from scenarios.command import shared_options as shared
from scenarios.command.verb import Example, Verb, choice
from scenarios.command.verb_groups import WATCH

KIND = Verb(
    name="list",
    group=WATCH,
    rank=2,
    help="the library, a line each; or the presets of places",
    arguments=(
        choice("what", of=("places",), nargs="?", help="default: the library"),
        shared.JSON,
    ),
    examples=(
        Example("hush list", "every scenario that comes with hush, and what it shows"),
        Example("hush list places", "latencies and devices that were measured, with their sources"),
    ),
    exits={},
    performed_by="scenarios.command.list",
)
