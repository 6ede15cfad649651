"""The verb `explain`."""

from scenarios.command import shared_options as shared
from scenarios.command.verb import Example, Takes, Verb, option, word
from scenarios.command.verb_groups import UNDERSTAND

KIND = Verb(
    name="explain",
    group=UNDERSTAND,
    rank=3,
    help="why an event happened, or a message was sent, and what came of it",
    arguments=(
        word("run", Takes.RUN, "the run's folder", metavar="RUN"),
        word(
            "seq",
            Takes.VALUE,
            "the event's number; or name a message by --agent",
            type=shared.whole,
            nargs="?",
            metavar="SEQ",
        ),
        shared.agent("whose message, by --message or --release"),
        option(
            "--message",
            takes=Takes.VALUE,
            type=shared.whole,
            metavar="N",
            help="the N-th message that the agent sent, counted from 1: releases, derived ones and resends alike",
        ),
        option(
            "--release",
            takes=Takes.VALUE,
            type=shared.whole,
            metavar="K",
            help="the message that carried the agent's release K, counted from 0 as in ledgers and events",
        ),
        shared.JSON,
    ),
    examples=(
        Example("hush explain latest 120", "why event 120 happened, and what came of it"),
        Example(
            "hush explain latest --agent 7 --message 3",
            "why it was sent, what it cost, and what became of each copy",
        ),
        Example("hush explain quickstart-7 120 --json", "the causes of an event, for programs"),
    ),
    exits={},
    performed_by="scenarios.command.explain",
)
