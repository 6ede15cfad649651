"""The verb `show`: a run or a sweep in words, the text of a scenario, or the card of a word."""

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

from scenarios.command.abbreviated_folders import LATEST
from scenarios.language.problems import ScenarioError, nearest, nearest_few
from scenarios.language.reader import LIBRARY, Piped, library_names, read_text
from scenarios.language.visible_text import say, say_json, say_lines, text_width
from scenarios.records.file_guard import FolderError
from scenarios.records.run_folder import is_record

if TYPE_CHECKING:
    from scenarios.records.reader import RunRecord
    from scenarios.records.sweep_record import SweepRecord


def perform(chosen: argparse.Namespace) -> int:
    """Print a run, a sweep, a scenario or the cards of a word, whichever it names."""
    if isinstance(chosen.what, Piped):
        return _show_text(chosen, chosen.what.text)
    path = Path(chosen.what)
    _refuse_misfits(chosen, path)
    if is_record(path):
        from scenarios.records.file_guard import guarded

        with guarded(path):
            _show_record(chosen.folders.run(chosen.what), chosen)
        return 0
    if path.is_dir():
        from scenarios.records.sweep_record import is_sweep

        if is_sweep(path):
            _show_sweep(chosen.folders.sweep(chosen.what), as_json=chosen.json)
            return 0
    if chosen.what in library_names() or path.is_file():
        text = read_text(
            LIBRARY / f"{chosen.what}.toml" if chosen.what in library_names() else path
        )
        code = _show_text(chosen, text)
        if not chosen.json:
            _tell_of_words(chosen.what)
        return code
    return _show_word(chosen.what, as_json=chosen.json)


def _show_word(word: str, *, as_json: bool) -> int:
    """Print the card of a word in each family that has it, or a family's words, a line each."""
    from scenarios.command.word_card import as_tree, in_lines, in_words
    from scenarios.planning.word_cards import cards_of, families

    for family in families():
        if word == f"{family.name}:":
            if as_json:
                say_json([as_tree(family, family.card(name)) for name in family.names()])
            else:
                say(*in_lines(family))
            return 0
    cards = cards_of(word)
    if not cards:
        raise ScenarioError.of("", _unknown(word))
    if as_json:
        first, *others = (as_tree(family, card) for family, card in cards)
        say_json({**first, "also": others})
        return 0
    for number, (family, card) in enumerate(cards):
        say(*([""] if number else []), *in_words(family, card))
    return 0


def _show_text(chosen: argparse.Namespace, text: str) -> int:
    """Print the text of a scenario."""
    if chosen.json:
        say_json({"name": chosen.what, "text": text}, indent=None)
    else:
        say(*text.rstrip().replace("\r\n", "\n").split("\n"))
    return 0


def _unknown(word: str) -> str:
    """Return what is wrong with a word that is none, with the nearest of all that there are."""
    from scenarios.planning.word_cards import all_names, cards_of, families

    said = f"'{word}' is no run, no scenario, and no word of a scenario"
    whose, separator, name = word.partition(":")
    known = [family.name for family in families()]
    if separator and whose in known:
        family = next(family for family in families() if family.name == whose)
        return f"there is no {whose.replace('-', ' ')} '{name}'; {nearest(name, family.names())}"
    if separator and (families_near := nearest_few(whose, known)):
        listed = " or ".join(f"'{name}:'" for name in families_near)
        return f"there is no family of words '{whose}'; did you mean {listed}?"
    close = nearest_few(word.casefold(), [LATEST, *all_names(), *library_names()])
    if not close:
        listed = ", ".join(f"{name}:" for name in known)
        return (
            f"{said}; hush list has the scenarios, and these list the words of a family: {listed}"
        )
    told = []
    for one in close:
        kinds = [family.article for family, _ in cards_of(one)]
        kinds += ["a scenario"] if one in library_names() else []
        kinds += ["the newest run"] if one == LATEST else []
        told.append(f"'{one}' ({' and '.join(kinds)})")
    return f"{said}; did you mean {' or '.join(told)}?"


def _tell_of_words(name: str) -> None:
    """Say on standard error that the name of a scenario is a word, too."""
    from scenarios.planning.word_cards import cards_of

    for family, _ in cards_of(name):
        told = f"'{name}' is also {family.article}: hush show {family.name}:{name}"
        say(f"hush: {told}", error=True)


def _refuse_misfits(chosen: argparse.Namespace, path: Path) -> None:
    """Refuse what cannot be written of a path, or not at once."""
    for option in ("ledger", "events"):
        if getattr(chosen, option) and not is_record(path):
            raise FolderError(f"--{option} needs the folder of a run, and {path} is none")
    if chosen.agent is not None and not is_record(path):
        raise FolderError(f"--agent needs the folder of a run, and {path} is none")
    if chosen.at is not None and chosen.agent is None:
        raise FolderError("--at needs --agent: hush replay RUN --at T shows all agents")
    if chosen.agent is not None and (chosen.ledger or chosen.events):
        raise FolderError("--agent goes with neither --ledger nor --events")
    if chosen.ledger and chosen.events:
        raise FolderError("--ledger and --events are written one at a time")


def _show_record(record: "RunRecord", chosen: argparse.Namespace) -> None:
    """Print a run in words, or write what it holds for other programs."""
    if chosen.agent is not None:
        _show_agent(record, chosen)
    elif chosen.events:
        for lines in record.event_lines():
            say_lines(lines)
    elif chosen.ledger:
        _show_ledger(record, chosen.ledger)
    else:
        _show_run(record, as_json=chosen.json)


def _show_agent(record: "RunRecord", chosen: argparse.Namespace) -> None:
    """Print one agent at an instant."""
    from clocks.clock import nanoseconds
    from scenarios.command.option_values import agent_of, seconds
    from scenarios.records.agent_moment import fault_names, moment_of
    from scenarios.records.agent_text import Teller

    at = seconds(chosen.at, "--at", zero=True)
    instant = None if at is None else nanoseconds(at)
    moment = moment_of(record, agent_of(record, chosen.agent), instant)
    teller = Teller(record, fault_names(record))
    if chosen.json:
        say_json(teller.as_tree(moment))
    else:
        say(*teller.in_words(moment))


def _show_sweep(record: "SweepRecord", *, as_json: bool) -> None:
    from shutil import get_terminal_size

    from scenarios.records.file_guard import guarded
    from scenarios.records.sweep_summary import summarised
    from scenarios.records.sweep_text import as_tree, in_words

    with guarded(record.path):
        sweep = summarised(record)
        if as_json:
            say_json(as_tree(sweep))
        else:
            say(*in_words(sweep, get_terminal_size((100, 24)).columns))


def _show_run(record: "RunRecord", *, as_json: bool) -> None:
    from scenarios.records import data_card_text
    from scenarios.records.recomputed_privacy import cut_off_in_words, heard_in_words
    from scenarios.records.summary_text import in_words

    summary = record.summary
    if as_json:
        say_json(summary)
        return
    data = ["", *data_card_text.in_words(record.data_card)]
    if not record.is_judged:
        say(*cut_off_in_words(summary), *heard_in_words(record), *data)
        return
    heard = ["", *heard_in_words(record)] if summary["releases"] else []
    say(*in_words(summary, text_width()), *heard, *data)
    digests = record.manifest["digests"]
    schedule = f"{digests.get('schedule', '')}{_conditional(digests)}"
    verdict = "DAMAGED, see above" if record.flaws else "files are what their checksums say"
    say("", f"  {record.path}: {verdict}", f"  schedule digest {schedule}")


def _conditional(digests: dict[str, Any]) -> str:
    """Return on what a schedule digest depends besides seed and scenario; empty where it depends on nothing else."""
    reason = digests.get("conditional")
    return f", conditional on {reason['on']} (agent {reason['first']} first)" if reason else ""


def _show_ledger(record: "RunRecord", form: str) -> None:
    """Write a run's ledger for other programs."""
    from scenarios.records.recomputed_privacy import as_csv, as_events, ledger_text

    match form:
        case "csv":
            say(*as_csv(record).rstrip().split("\r\n"))
        case "jsonl":
            for lines in ledger_text(record):
                say_lines(lines)
        case "dp-accounting":
            say_json(as_events(record))
        case _:
            raise NotImplementedError(f"there is no ledger as {form!r}")
