"""The verb `show`."""

from scenarios.command import shared_options as shared
from scenarios.command.verb import Example, Takes, Verb, choice, option, word
from scenarios.command.verb_groups import UNDERSTAND

KIND = Verb(
    name="show",
    group=UNDERSTAND,
    rank=1,
    help="a run, sweep or agent in words; a scenario's text; a word's card",
    arguments=(
        word(
            "what",
            Takes.RUN | Takes.SWEEP | Takes.WORD | Takes.SCENARIO,
            "the folder of a run or sweep, a scenario, or any word of one: a mechanism, metric, fault, accountant …; "
            "FAMILY: lists a family (metric:), FAMILY:WORD asks one",
            metavar="RUN|SWEEP|NAME|WORD",
        ),
        shared.agent("of a run: one agent alone: its state and why, its ε, sample and messages"),
        option(
            "--at",
            takes=Takes.VALUE,
            metavar="T",
            help='with --agent: at this instant, seconds or "250ms" (default: the end)',
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
        Example("hush show latest --agent 7 --at 15s", "one agent at an instant, and why it is so"),
        Example(
            "hush show harmed", "what a metric is; as well a mechanism, a fault, an accountant"
        ),
    ),
    exits={},
    performed_by="scenarios.command.show",
)
