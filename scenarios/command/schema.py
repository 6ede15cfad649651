"""The verb `schema`: the JSON Schema of the scenario file."""

import argparse

from scenarios.language.visible_text import say
from scenarios.planning.scenario_schema import schema_text


def perform(_: argparse.Namespace) -> int:
    """Print the schema."""
    say(*schema_text().rstrip("\n").split("\n"))
    return 0
