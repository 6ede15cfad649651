"""The verb `show`."""

from scenarios.command import shared_options as shared
from scenarios.command.verb import Example, Takes, Verb, choice, word
from scenarios.command.verb_groups import UNDERSTAND

KIND = Verb(
    name="show",
    group=UNDERSTAND,
    rank=1,
    help="a run or a sweep in words, a mechanism's card, a scenario's text",
    arguments=(
        word(
            "what",
            Takes.RUN | Takes.SWEEP | Takes.KIND | Takes.SCENARIO,
            "a mechanism, a scenario, or the folder of a run or sweep",
            metavar="KIND|NAME|RUN|SWEEP",
        ),
        shared.JSON,
        choice(
            "--ledger",
            of=("csv", "dp-accounting", "jsonl"),
            help="a run's ledger as a table, as events that dp-accounting composes, or as lines of JSON",
        ),
        choice("--events", of=("jsonl",), help="everything that happened in a run, a line each"),
        shared.ASCII,
    ),
    examples=(
        Example("hush show latest", "the newest run below runs/, in words"),
        Example("hush show cd", "the card of a mechanism"),
        Example("hush show quickstart-7 --ledger csv", "what was released and charged, as a table"),
    ),
    exits={2: "usage, or the files of a run are not intact"},
    performed_by="scenarios.command.show",
)
