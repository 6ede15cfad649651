"""How long agents stay and are away: the rule of a session, a distribution or a preset of measured ones."""

from scenarios.language.table_rules import Kinds, ShortForm
from scenarios.language.value_rules import duration
from scenarios.planning.durations import DURATIONS
from scenarios.planning.places import tables_of

SESSION = Kinds(
    "distribution or preset",
    {**DURATIONS, **tables_of("session")},
    ShortForm("constant", "value", duration(zero=False)),
)
"""The rule of a session or of a time away."""
