"""World F: what commands cost before and after their work, processor time over that of a bare interpreter.

Every command is a process of its own, and each turn runs all of them, the bare interpreter first. Compiled files of Python
(.pyc) are there, as after an installation. `first frame` is the processor time until a screen has its first whole frame, from a
terminal of its own.
"""

import contextlib
import os
import pty
import resource
import select
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from benchmarks.measuring import Setting
from benchmarks.report import Row

ROOT = Path(__file__).resolve().parent.parent
HUSH = (sys.executable, "-m", "hush")
BARE = (sys.executable, "-c", "pass")
WRONG = "schema = 1\nnodez = 3\n"
FIRST_FRAME = "first frame"
_WHOLE_FRAME = b"\x1b[?2026l"
_PATIENCE_S = 30.0


def commands(folder: Path, number: int) -> dict[str, Sequence[str]]:
    """Return the commands of one round, by what the table calls them."""
    wrong = folder / "wrong.toml"
    wrong.write_text(WRONG, encoding="utf-8")
    return {
        "--help": (*HUSH, "--help"),
        "list": (*HUSH, "list"),
        "show cd": (*HUSH, "show", "cd"),
        "check, an error": (*HUSH, "check", str(wrong)),
        "check quickstart": (*HUSH, "check", "quickstart"),
        "run ring5-dropout": (
            *(*HUSH, "run", "ring5-dropout", "--quiet", "--out"),
            str(folder / f"run-{number}"),
        ),
    }


def environment() -> dict[str, str]:
    """Return the environment of every command: compiled files are written, and no screen is refused."""
    kept = {k: v for k, v in os.environ.items() if k not in {"PYTHONDONTWRITEBYTECODE", "CI"}}
    return kept | {"PYTHONPATH": str(ROOT), "TERM": "xterm-256color"}


def spent_ms(words: Sequence[str], folder: Path) -> float:
    """Return the processor time of a process and of its own, in milliseconds."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(
        words, cwd=folder, env=environment(), capture_output=True, check=False, timeout=120
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    spent = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return 1000 * spent


def first_frame_ms(folder: Path, number: int) -> float:
    """Return the processor time (ms) until a run on a terminal of its own has drawn a frame."""
    words = (*HUSH, "run", "quickstart", "--live", "full", "--out", str(folder / f"seen-{number}"))
    mine, its = pty.openpty()
    process = subprocess.Popen(
        words, cwd=folder, env=environment(), stdin=its, stdout=its, stderr=its
    )
    os.close(its)
    seen = b""
    try:
        while _WHOLE_FRAME not in seen:
            ready, _, _ = select.select([mine], [], [], _PATIENCE_S)
            if not ready:
                raise SystemExit("the screen drew nothing")
            try:
                seen += os.read(mine, 1 << 16)
            except OSError:  # the terminal is gone
                raise SystemExit(f"the screen drew nothing: {seen[-500:]!r}") from None
        on_processor = Path(f"/proc/{process.pid}/schedstat").read_text("ascii").split()[0]
        return int(on_processor) / 1e6
    finally:
        process.terminate()
        with contextlib.suppress(OSError):
            while os.read(mine, 1 << 16):  # what it draws must go somewhere while it ends
                pass
        process.wait()
        os.close(mine)


def measure(setting: Setting, name: str) -> Iterator[Row]:
    """Yield each command, in milliseconds over a bare interpreter."""
    turns = 1 if setting.quick else max(5, setting.repeat)
    found: dict[str, list[float]] = {}
    with tempfile.TemporaryDirectory(prefix="hush-start-") as place:
        folder = Path(place)
        for turn in range(-1, turns):  # the turn before the first writes compiled files
            times = {"bare": spent_ms(BARE, folder)}
            for command, words in commands(folder, turn).items():
                times[command] = spent_ms(words, folder)
            if Path("/proc/self/schedstat").exists():
                times[FIRST_FRAME] = first_frame_ms(folder, turn)
            if turn >= 0:
                for command, spent in times.items():
                    found.setdefault(command, []).append(spent)
    bare = min(found.pop("bare"))
    for command, spents in found.items():
        over = [spent - bare for spent in spents]
        what = command if command == FIRST_FRAME else f"hush {command}"
        what = f"{what}: CPU over a bare interpreter"
        yield Row(f"{name}/{command}", what, "ms", min(over), min(over), max(over))
