"""The verb `trace`."""

import argparse

from scenarios.command import shared_options as shared
from scenarios.command.verb import Example, Takes, Verb, choice, flag, option, word
from scenarios.command.verb_groups import FILES

_NEEDS = ("idle", "charging", "wifi")


def _needs(text: str) -> str:
    if not text or any(need not in _NEEDS for need in text.split(",")):
        raise argparse.ArgumentTypeError(f"must be some of {','.join(_NEEDS)}, got {text}")
    return text


KIND = Verb(
    name="trace",
    group=FILES,
    rank=5,
    help="import traces that others measured, with a report of flaws",
    arguments=(
        choice(
            "what",
            of=("import",),
            help="device availability, latency matrices or durations, with a report of flaws",
        ),
        word("file", Takes.FILE, "what was measured", metavar="FILE"),
        shared.out("what to write (default: nothing, only the report)", Takes.FILE),
        choice(
            "--kind",
            of=("auto", "availability", "matrix", "durations"),
            default="auto",
            help="what the file holds (default: told from it)",
        ),
        choice(
            "--unit", of=("s", "ms", "us"), default="s", help="of numbers in the file (default s)"
        ),
        flag("--rtt", help="delays are round trips: half of each is one way"),
        option(
            "--needs",
            takes=Takes.VALUE,
            metavar="A,B",
            default=",".join(_NEEDS),
            type=_needs,
            help="what a device of the FLASH format must be (default idle,charging,wifi)",
        ),
        flag("--from-start", help="count sessions from the first one; dates always do"),
        option(
            "--repair",
            takes=Takes.VALUE,
            metavar="HOW",
            action="append",
            default=[],
            help="what may be done to unusable values: drop, merge, unwrap, neighbour, symmetric; repeatable",
        ),
        shared.JSON,
    ),
    examples=(
        Example("hush trace import sessions.json", "what is in it, and what is wrong with it"),
        Example(
            "hush trace import king.txt --unit us --rtt -o delays.txt",
            "round trips in microseconds, as delays",
        ),
    ),
    exits={2: "usage, or a file that is no trace"},
    performed_by="scenarios.command.trace",
)
