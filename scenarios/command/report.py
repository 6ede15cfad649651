"""The verb `report`: one page on a run or a sweep."""

import argparse
from pathlib import Path

from scenarios.command.option_values import opened, opened_sweep
from scenarios.language.visible_text import say
from scenarios.pictures.report import write_report
from scenarios.records.sweep_record import is_sweep


def perform(chosen: argparse.Namespace) -> int:
    """Write the report and print where it is; return 2 where a run's files are not intact."""
    path = Path(chosen.place)
    if is_sweep(path):
        sweep = opened_sweep(path)
        say(str(write_report(sweep, chosen.out)))
        return 2 if sweep.flaws else 0
    record = opened(path)
    say(str(write_report(record, chosen.out)))
    return 2 if record.flaws else 0
