"""The command line: argparse, so that help and errors come before anything numeric is loaded."""

import argparse
import errno
import os
import sys
from collections.abc import Sequence
from typing import Any, TextIO

from scenarios.arguments import parser, spelled_out
from scenarios.saying import prepare, say

USAGE, OURS = 2, 70


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; whatever goes wrong ends with its exit code, never with a traceback but for 70."""
    for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
        os.environ.setdefault(
            name, "1"
        )  # before NumPy loads: more threads only slow small work down
    for stream in (sys.stdout, sys.stderr):
        prepare(stream)  # what a terminal cannot write is no reason to stop
    words = parser()
    chosen = words.parse_args(spelled_out(sys.argv[1:] if arguments is None else arguments))
    if getattr(chosen, "ascii", False):
        for stream in (sys.stdout, sys.stderr):
            prepare(stream, ascii_only=True)
    if chosen.version:
        from scenarios.folder import version

        say(f"hush {version()}")
        return 0
    if chosen.verb is None:
        words.print_help()
        return USAGE
    return _guarded(chosen)


def _guarded(chosen: argparse.Namespace) -> int:
    from scenarios.folder import FolderError
    from scenarios.problem import ScenarioError

    try:
        code = _dispatch(chosen)
        if sys.stdout is not None:
            sys.stdout.flush()
    except (ScenarioError, FolderError) as error:
        say(*str(error).split("\n"), error=True)
        return USAGE
    except BrokenPipeError:
        _write_nowhere(sys.stdout)
        return 0
    except KeyboardInterrupt:
        return 130
    except MemoryError:
        say("hush: out of memory; a smaller scenario would fit", error=True)
        return USAGE
    except OSError as error:
        if error.errno == errno.EIO and not error.filename:  # the terminal is gone, not a disk
            _write_nowhere(sys.stdout, sys.stderr)
            return 130
        named = f": {error.filename}" if error.filename else ""
        say(f"hush: {error.strerror}{named}", error=True)
        return 74
    except Exception:  # noqa: BLE001 # our own fault: say so, and how to tell us
        import traceback

        said = "hush: this is a fault of hush. Please report the lines above with the scenario and its seed."
        say(*traceback.format_exc().rstrip().split("\n"), said, error=True)
        return OURS
    return code


def _write_nowhere(*streams: TextIO) -> None:
    """Let nobody be told what nobody can read any more."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for stream in streams:
        os.dup2(nowhere, stream.fileno())


def _dispatch(chosen: argparse.Namespace) -> int:
    if chosen.verb == "run":
        return _run(chosen)
    if chosen.verb in {"audit", "attack"}:
        from scenarios import inquiring

        found: int = getattr(inquiring, chosen.verb)(chosen)
        return found
    if chosen.verb == "test":
        from scenarios.testing import test

        return test(chosen)
    if chosen.verb == "replay":
        from scenarios.replaying import replay

        return replay(chosen)
    if chosen.verb in {"explain", "diff"}:
        from scenarios import looking

        told: int = getattr(looking, chosen.verb)(chosen)
        return told
    from scenarios import verbs

    act: Any = getattr(verbs, "library" if chosen.verb == "list" else chosen.verb)
    code: int = act(chosen)
    return code


def _run(chosen: argparse.Namespace) -> int:
    """Judge what the file itself says before NumPy is loaded: errors come at once."""
    from scenarios.words import judged

    for scenario in chosen.scenario or ["quickstart"]:
        judged(chosen, scenario)
    from scenarios.running import run

    return run(chosen)


if __name__ == "__main__":
    raise SystemExit(main())
