"""The verb `report`: one page on a run or a sweep."""

import argparse
from pathlib import Path

from scenarios.language.visible_text import say
from scenarios.pictures.report import write_report
from scenarios.records.sweep_record import is_sweep


def perform(chosen: argparse.Namespace) -> int:
    """Write the report and print where it is."""
    folders, word = chosen.folders, chosen.place
    record = folders.sweep(word) if is_sweep(Path(word)) else folders.run(word)
    say(str(write_report(record, chosen.out)))
    return 0
