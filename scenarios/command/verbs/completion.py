"""The verb `completion`."""

from scenarios.command.verb import Example, Takes, Verb, choice, word
from scenarios.command.verb_groups import COMMAND

KIND = Verb(
    name="completion",
    group=COMMAND,
    rank=2,
    help="a script that lets bash, zsh or fish complete the command",
    arguments=(
        choice(
            "shell",
            of=("bash", "zsh", "fish", "words"),
            help="whose script is printed; words: what the scripts ask, a possible word a line",
        ),
        word(
            "words",
            Takes.VALUE,
            "what was typed after hush so far, after --; the last one is to be completed",
            nargs="*",
        ),
    ),
    examples=(
        Example('eval "$(hush completion bash)"', "in ~/.bashrc; for zsh the same in ~/.zshrc"),
        Example("hush completion fish > ~/.config/fish/completions/hush.fish", "for fish"),
        Example("hush completion words -- run --li", "what may stand in place of --li"),
    ),
    exits={},
    performed_by="scenarios.command.completion",
)
