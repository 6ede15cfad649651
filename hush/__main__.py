"""The command `hush`, also as `python -m hush`."""

import sys

from hush.packages import shadowed


def main() -> int:
    """Run the command; return its exit code, which is 2 where another package shadows one of ours.

    An interrupt before the command has begun ends it as one later does: with 130, and without a traceback.
    """
    try:
        sentence = shadowed()
        if sentence is not None:
            sys.stderr.write(sentence + "\n")
            return 2
        from scenarios.command.main import main as command

        return command()
    except KeyboardInterrupt:
        return 130


if __name__ == "__main__":
    raise SystemExit(main())
