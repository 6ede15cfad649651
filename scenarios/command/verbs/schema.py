"""The verb `schema`."""

from scenarios.command.verb import Example, Verb
from scenarios.command.verb_groups import FILES

KIND = Verb(
    name="schema",
    group=FILES,
    rank=2,
    help="the JSON Schema of the scenario file, for editors",
    arguments=(),
    examples=(
        Example("hush schema > hush.schema.json", "renew what hush new wrote beside a scenario"),
        Example("hush schema | python -m json.tool", "read it"),
    ),
    exits={},
    performed_by="scenarios.command.schema",
)
