"""The verb `attack`."""

from scenarios.command import shared_options as shared
from scenarios.command.verb import Example, Takes, Verb, choice, option, word
from scenarios.command.verb_groups import PRIVACY

KIND = Verb(
    name="attack",
    group=PRIVACY,
    rank=2,
    help="what an attacker recovers, beside what was promised",
    arguments=(
        choice("which", of=("kkt", "membership"), help="rebuild a record, or tell who took part"),
        word("scenario", Takes.SCENARIO, "a name of the library, or a file"),
        option("--node", takes=Takes.VALUE, type=shared.whole, metavar="N", help="whose records"),
        option(
            "--record",
            takes=Takes.VALUE,
            type=shared.whole,
            default=0,
            metavar="N",
            help="kkt: which record (default 0)",
        ),
        option(
            "--records",
            takes=Takes.VALUE,
            type=shared.some,
            default=8,
            metavar="N",
            help="membership: how many (default 8)",
        ),
        option(
            "--runs",
            takes=Takes.VALUE,
            type=shared.number_of_runs,
            default=50,
            metavar="N",
            help="membership: runs each way (default 50)",
        ),
        shared.confidence(),
        shared.seed(),
        shared.JSON,
        *shared.COMMON,
    ),
    examples=(
        Example("hush attack kkt ring5-dropout --node 2", "rebuild a record of one agent"),
        Example("hush attack membership ring5-dropout", "tell members from others"),
    ),
    exits={2: "usage, or a scenario that cannot be attacked"},
    performed_by="scenarios.command.attack",
)
