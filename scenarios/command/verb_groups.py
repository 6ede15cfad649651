"""The groups of verbs, in the order of `hush --help`."""

from scenarios.command.verb import Group

WATCH = Group("Run and watch")
UNDERSTAND = Group("Understand a run")
MANY = Group("Many runs")
PRIVACY = Group("Privacy")
FILES = Group("Make and read files")
LITERATURE = Group("The literature")
COMMAND = Group("This command")

GROUPS = (WATCH, UNDERSTAND, MANY, PRIVACY, FILES, LITERATURE, COMMAND)
