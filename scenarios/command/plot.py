"""The verb `plot`: a picture of one metric of a run."""

import argparse
from pathlib import Path

from scenarios.command.option_values import opened
from scenarios.language.visible_text import say


def perform(chosen: argparse.Namespace) -> int:
    """Draw one metric of a run."""
    from scenarios.pictures.plots import draw

    out = draw(opened(Path(chosen.run)), chosen.what, chosen.x, chosen.out)
    say(str(out))
    return 0
