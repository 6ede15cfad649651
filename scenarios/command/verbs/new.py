"""The verb `new`."""

from scenarios.command.verb import Example, Takes, Verb, word
from scenarios.command.verb_groups import FILES

KIND = Verb(
    name="new",
    group=FILES,
    rank=1,
    help="a commented scenario to start from",
    arguments=(word("file", Takes.FILE, "the file to write; it must not exist"),),
    examples=(
        Example("hush new world.toml", "write it; then hush check ./world.toml"),
        Example("hush new worlds/first.toml", "in a folder that exists"),
    ),
    exits={2: "usage, or the file exists or cannot be written"},
    performed_by="scenarios.command.new",
)
