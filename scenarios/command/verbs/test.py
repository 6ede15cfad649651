"""The verb `test`."""

from scenarios.command import shared_options as shared
from scenarios.command.verb import Example, Takes, Verb, flag, option, word
from scenarios.command.verb_groups import MANY

KIND = Verb(
    name="test",
    group=MANY,
    rank=3,
    help="scenario files as tests; random worlds; the smallest failure",
    arguments=(
        word(
            "path",
            Takes.SCENARIO | Takes.FOLDER,
            "files, folders of test_*.toml, names of the library, or library: for all of it",
            nargs="*",
            metavar="PATH",
        ),
        option(
            "--seeds",
            takes=Takes.VALUE,
            metavar="A..B",
            help='such as "0..99" (default: the file\'s own)',
        ),
        option(
            "--swarm",
            takes=Takes.VALUE,
            type=shared.some,
            metavar="N",
            help="so many worlds with random faults",
        ),
        flag("--shrink", help="write the smallest file that still fails"),
        flag("--keep", help="with --swarm: keep the files of those that passed, too"),
        shared.jobs(),
        option(
            "-o",
            "--out",
            takes=Takes.FILE | Takes.FOLDER,
            metavar="PATH",
            help="where shrunk files, or a swarm's, go",
        ),
        shared.PATH,
        *shared.COMMON,
    ),
    examples=(
        Example("hush test ring5-dropout --seeds 0..9", "its expectations under ten seeds"),
        Example("hush test worlds/ -j 4", "every test_*.toml of a folder"),
        Example("hush test --swarm 50 --shrink", "random worlds; failures made small"),
    ),
    exits={
        1: "an expectation failed",
        2: "usage, or a scenario that cannot run",
        3: "an invariant broke",
        4: "a verdict is unknown",
    },
    performed_by="scenarios.command.test",
)
