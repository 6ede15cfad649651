"""Whether there is a terminal, and what it can show: asked before anything is loaded that draws on one."""

import os
import sys


def is_plain(*, asked: bool) -> bool:
    """Whether frames are ASCII only: as asked, or because nothing else can be written."""
    try:
        "ε█●".encode(getattr(sys.stdout, "encoding", None) or "utf-8")
    except UnicodeEncodeError:
        return True
    return asked


def can_be_full(*, asked: bool = False) -> bool:
    """Whether there are a real keyboard and a real screen; in CI only where it is asked for."""
    quiet = bool(os.environ.get("CI")) and not asked
    return is_interactive() and not is_dumb() and not quiet


def is_interactive() -> bool:
    """Whether a person reads and types here."""
    return all(stream is not None and stream.isatty() for stream in (sys.stdin, sys.stdout))


def is_dumb() -> bool:
    """Whether the terminal can only write lines. A Windows console does not say what it is, and can do more."""
    kind = os.environ.get("TERM", "")
    return kind == "dumb" or (not kind and os.name != "nt")
