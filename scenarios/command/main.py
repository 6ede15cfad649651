"""The command line: argparse, so that help and errors come before anything numeric is loaded."""

import os
import signal
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module
from types import FrameType
from typing import TYPE_CHECKING, Any, TextIO

from scenarios.command.exit_codes import DISK, INTERRUPTED, OURS, USAGE

if TYPE_CHECKING:
    import argparse

_ENDING = [
    getattr(signal, name)
    for name in ("SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT")
    if hasattr(signal, name)
]


class _Ended(KeyboardInterrupt):
    """A signal that ends the command.

    It is a class of its own because CPython remembers a plain KeyboardInterrupt that left code run by
    `exec` (as every dataclass is made), and then ends with the signal, although it was caught.
    """


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; whatever goes wrong ends with its exit code, never with a traceback but for 70."""
    from scenarios.running.gc_tuning import few_collections

    with _forgiving():
        try:
            with few_collections(), _ends_as_interrupted():
                return _main(arguments)
        except KeyboardInterrupt as cut:
            if cut.args:
                from scenarios.language.visible_text import say

                say(f"hush: {cut}", error=True)
            return INTERRUPTED


def _main(arguments: Sequence[str] | None) -> int:
    from scenarios.language.visible_text import prepare

    for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
        os.environ.setdefault(
            name, "1"
        )  # before NumPy loads: more threads only slow small work down
    for stream in (sys.stdout, sys.stderr):
        prepare(stream)  # what a terminal cannot write is no reason to stop
    return _guarded(sys.argv[1:] if arguments is None else arguments)


def _command(chosen: "argparse.Namespace") -> int:
    """Do what the words ask for."""
    from scenarios.command.help_text import overview
    from scenarios.language.visible_text import prepare, say

    if getattr(chosen, "ascii", False):
        for stream in (sys.stdout, sys.stderr):
            prepare(stream, ascii_only=True)
    if chosen.version:
        from scenarios.records.run_folder import version

        say(f"hush {version()}")
        return 0
    if chosen.verb is None:
        say(*overview())
        return USAGE
    return _dispatch(chosen)


@contextmanager
def _ends_as_interrupted() -> Iterator[None]:
    """Let the signals that end a process end it as Ctrl-C does: with 130, and workers ended.

    While a run is open, it has handlers of its own. A signal that is ignored (nohup) stays ignored.
    """

    def stop(_number: int, frame: FrameType | None) -> None:
        if _imports(frame):  # there it would be swallowed, or wrapped into another error
            os._exit(INTERRUPTED)
        raise _Ended

    former = {}
    for number in _ENDING:
        try:
            if signal.getsignal(number) in (signal.SIG_DFL, signal.default_int_handler):
                former[number] = signal.signal(number, stop)
        except ValueError:  # not the main thread
            break
    try:
        yield
    finally:
        for number, handler in former.items():
            signal.signal(number, handler)


def _imports(frame: FrameType | None) -> bool:
    """Whether a module is being imported: then nothing is open that would have to be closed."""
    while frame is not None:
        if frame.f_code.co_filename.startswith("<frozen importlib"):
            return True
        frame = frame.f_back
    return False


@contextmanager
def _forgiving() -> Iterator[None]:
    """Let standard error that cannot be written to be no reason to stop, or to end with another code."""
    stderr = sys.stderr
    sys.stderr = _Forgiving(stderr)
    try:
        yield
    finally:
        sys.stderr.flush()
        sys.stderr = stderr


class _Forgiving:
    """Standard error where it can be written to; closed, full or broken, it is nowhere.

    An error while an error is told would end the command with that error's code.
    """

    def __init__(self, stream: TextIO | None) -> None:
        self._stream = stream

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    def isatty(self) -> bool:
        return self._stream is not None and self._stream.isatty()

    def write(self, text: str) -> int:
        try:
            if self._stream is not None:
                self._stream.write(text)
        except OSError:
            self._lose()
        return len(text)

    def flush(self) -> None:
        try:
            if self._stream is not None:
                self._stream.flush()
        except OSError:
            self._lose()

    def _lose(self) -> None:
        """Write nowhere from now on; what the stream still holds goes there too, when Python ends."""
        stream, self._stream = self._stream, None
        _write_nowhere(stream)


def _guarded(arguments: Sequence[str]) -> int:
    import errno

    from scenarios.language.problems import ScenarioError
    from scenarios.language.visible_text import say
    from scenarios.records.folder_error import FolderError

    try:
        ended = _ended(arguments)
        if sys.stdout is not None:
            sys.stdout.flush()
    except (ScenarioError, FolderError) as error:
        say(*str(error).split("\n"), error=True)
        return USAGE
    except BrokenPipeError:
        _write_nowhere(sys.stdout)
        return 0
    except MemoryError:
        say("hush: out of memory; a smaller scenario would fit", error=True)
        return USAGE
    except OSError as error:
        if error.errno == errno.EIO and not error.filename:  # the terminal is gone, not a disk
            _write_nowhere(sys.stdout)
            return INTERRUPTED
        named = f": {error.filename}" if error.filename else ""
        say(f"hush: {error.strerror}{named}", error=True)
        return USAGE if error.errno in (errno.ENAMETOOLONG, errno.ELOOP) else DISK
    except (Exception, SystemExit) as error:  # our own fault: say so, and how to tell us
        import traceback

        from scenarios.planning.own_code import failure_of_own

        failure = failure_of_own(error)
        if failure is not None:
            say(f"hush: {failure}", error=True)
            return USAGE
        if isinstance(error, SystemExit):
            raise
        text = "hush: this is a fault of hush. Please report the lines above with the scenario and its seed."
        say(*traceback.format_exc().rstrip().split("\n"), text, error=True)
        return OURS
    if isinstance(ended, SystemExit):
        raise ended
    return ended


def _ended(arguments: Sequence[str]) -> int | SystemExit:
    """Do what the words ask for; return the exit code, or what `parse` raised after it had answered by itself."""
    from scenarios.command.arguments import parse

    try:
        chosen = parse(arguments)
    except SystemExit as answered:
        return answered
    return _command(chosen)


def _write_nowhere(stream: TextIO | None) -> None:
    """Discard what is written to a stream that cannot be read any more."""
    if stream is not None:
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def _dispatch(chosen: "argparse.Namespace") -> int:
    """Call `perform` of the module that carries the verb out."""
    from scenarios.command.abbreviated_folders import spell_out
    from scenarios.command.judged_folders import judge
    from scenarios.command.standard_input import pipe_in
    from scenarios.command.verbs import VERBS

    verb = VERBS[chosen.verb]
    pipe_in(verb, chosen)
    spell_out(verb, chosen)
    chosen.folders = folders = judge(verb, chosen)
    code: int = import_module(verb.performed_by).perform(chosen)
    return folders.code(code)


if __name__ == "__main__":
    raise SystemExit(main())
