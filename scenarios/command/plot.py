"""The verb `plot`: a picture of runs, sweeps or an audit, with its caption beside it."""

import argparse

from scenarios.command.option_values import seconds
from scenarios.language.problems import ScenarioError
from scenarios.language.visible_text import say


def perform(chosen: argparse.Namespace) -> int:
    """Draw what the words name, and say where the picture is."""
    from scenarios.pictures.draw import Request, save, sorted_words
    from scenarios.pictures.picture import PICTURES, Options

    if chosen.list:
        width = max(map(len, PICTURES))
        say(*(f"{name:{width}}  {kind.words}" for name, kind in PICTURES.items()))
        say(f"{'METRIC':{width}}  any metric that was sampled (docs/reference.md, section 5)")
        return 0
    if not chosen.words:
        raise ScenarioError.of(
            "plot", "needs the folder of a run, a sweep or an audit; --list names the pictures"
        )
    material, panels = sorted_words(chosen.words, chosen.folders)
    at = seconds(chosen.at, "--at", zero=True)
    options = Options(chosen.x or "time", at, chosen.metric, _choices(chosen.only))
    request = Request(material, panels, options, chosen.style, chosen.width)
    for path in save(request, chosen.out, chosen.format):
        say(str(path))
    return 0


def _choices(pairs: list[str]) -> dict[str, str]:
    """Read `--only KEY=VALUE`."""
    choices = {}
    for pair in pairs:
        key, separator, value = pair.partition("=")
        if not separator or not key:
            raise ScenarioError.of(f"--only {pair}", "must be KEY=VALUE, such as mechanism=cd")
        choices[key.strip()] = value.strip()
    return choices
