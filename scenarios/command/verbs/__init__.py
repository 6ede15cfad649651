"""The verbs of the command line: one file for each."""

from scenarios.command.verb import Verb
from scenarios.planning.kinds import Family

VERBS = Family("scenarios.command.verbs", Verb)
