"""The verb `verify`: the verdict of the gate that every reader passes, on one folder."""

import argparse
from pathlib import Path

from scenarios.language.visible_text import say, say_json
from scenarios.records.sweep_record import is_sweep


def perform(chosen: argparse.Namespace) -> int:
    """Print how a run or a sweep ended, and whether its folder is as it was left; what is wrong was said on standard error."""
    word, folders = chosen.place, chosen.folders
    if is_sweep(Path(word)):
        sweep = folders.sweep(word)
        sort, state, flaws = "sweep", sweep.manifest.status, sweep.flaws
    else:
        run = folders.run(word)
        sort, state, flaws = "run", run.ended, run.flaws
    if chosen.json:
        say_json({"path": word, "sort": sort, "state": state, "sound": not flaws, "flaws": flaws})
    elif flaws:
        say(f"{word}: DAMAGED, {len(flaws)} flaw{'s' * (len(flaws) > 1)}")
    else:
        say(f"{word}: {state}, nothing is damaged")
    return 0
