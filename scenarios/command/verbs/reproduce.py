"""The verb `reproduce`."""

from scenarios.command import shared_options as shared
from scenarios.command.verb import Example, Takes, Verb, flag, word
from scenarios.command.verb_groups import LITERATURE

KIND = Verb(
    name="reproduce",
    group=LITERATURE,
    rank=1,
    help="the papers' figures, tables and claims, judged by runs",
    arguments=(
        word(
            "claim",
            Takes.CLAIM,
            "papers, claims, or beginnings of their names (default: all; --list has them)",
            nargs="*",
            metavar="PAPER|CLAIM",
        ),
        flag("--quick", help="claims that take minutes, with fewer seeds and settings"),
        flag("--list", help="the claims with their verdicts, a line each"),
        shared.jobs(),
        shared.out(
            "default runs/reproduction, with --quick runs/reproduction-quick; what was run there before is not run again"
        ),
        shared.quiet(),
        shared.JSON,
        shared.DATA,
    ),
    examples=(
        Example("hush reproduce --list", "every claim and its verdict; nothing is run"),
        Example("hush reproduce --quick -j 2", "those that take minutes, on two cores"),
    ),
    exits={1: "a verdict contradicts the one that comes with hush"},
    performed_by="scenarios.command.reproduce",
)
