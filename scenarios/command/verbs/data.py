"""The verb `data`."""

from scenarios.command import shared_options as shared
from scenarios.command.verb import Example, Verb
from scenarios.command.verb_groups import FILES

KIND = Verb(
    name="data",
    group=FILES,
    rank=4,
    help="the published data sets: which are here, where to get others",
    arguments=(shared.JSON, shared.DATA),
    examples=(
        Example("hush data", "every set that a scenario may name"),
        Example("hush data --data ~/sets", "and what of it lies in a folder"),
    ),
    exits={},
    performed_by="scenarios.command.data",
)
