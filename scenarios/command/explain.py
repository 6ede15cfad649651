"""The verb `explain`: the causes of one event of a run, or of one message of an agent, and what came of it."""

import argparse

from scenarios.language.visible_text import say, say_json
from scenarios.records.agent_moment import fault_names
from scenarios.records.causes import Causes, as_tree, in_words
from scenarios.records.file_guard import FolderError, guarded
from scenarios.records.reader import RunRecord


def perform(chosen: argparse.Namespace) -> int:
    """Print the causes of one event and what it caused; or why a message was sent, its cost and its copies."""
    with guarded(chosen.run):
        if chosen.agent is not None or chosen.message is not None or chosen.release is not None:
            return _explain_message(chosen)
        if chosen.seq is None:
            raise FolderError("say which: the number of an event, or --agent I with --message N")
        return _explain(chosen)


def _explain_message(chosen: argparse.Namespace) -> int:
    from scenarios.command.option_values import agent_of
    from scenarios.records.agent_moment import AgentFold
    from scenarios.records.agent_text import Teller

    if chosen.seq is not None:
        raise FolderError("an event by its number, or a message by --agent: not both at once")
    if chosen.agent is None or (chosen.message is None) == (chosen.release is None):
        raise FolderError("a message is named by --agent I and one of --message N, --release K")
    record = chosen.folders.run(chosen.run)
    fold = AgentFold(record, agent_of(record, chosen.agent))
    fold.until(None)
    teller = Teller(record, fault_names(record))
    if chosen.message is not None:
        message = teller.message_of(fold, chosen.message)
    else:
        message = teller.release_of(fold, chosen.release)
    if chosen.json:
        say_json(teller.message_tree(fold, message))
    else:
        say(*teller.message_in_words(fold, message))
    return 0


def _explain(chosen: argparse.Namespace) -> int:
    record = chosen.folders.run(chosen.run)
    path, causes = record.path, causes_of(record)
    if not causes.by_seq:
        raise FolderError(f"{path} has no events: it was cut off before the first, or is damaged")
    if chosen.seq not in causes.by_seq:
        last = max(causes.by_seq, default=0)
        raise FolderError(f"{path} has no event {chosen.seq}: they run from 1 to {last}")
    if chosen.json:
        say_json(as_tree(causes, chosen.seq))
    else:
        say(*in_words(causes, chosen.seq))
    return 0


def causes_of(record: RunRecord) -> Causes:
    """Return the events of a run by number, with their causes."""
    return Causes(record.events(), list(record.proof.lines), fault_names(record))
