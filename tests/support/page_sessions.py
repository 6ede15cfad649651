"""Runs the commands of a page as its reader would, from the top to the end, and compares what they print."""

import difflib
import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.support.page_blocks import Block, blocks, page_text, way
from tests.support.paths import ROOT
from tests.support.reader_environment import installed, reader_python

HOME = "/home/you/hush"
"""The folder that pages show in place of the temporary one."""

LIMIT_S = 300
LEFT_OUT = "…"
"""A line of an output block that stands for any number of lines."""


@dataclass(frozen=True)
class Rule:
    """What may differ between two machines or two runs: where it stands, and what it is compared as."""

    name: str
    pattern: re.Pattern[str]
    same: str
    example: str


def _rule(name: str, pattern: str, same: str, example: str) -> Rule:
    return Rule(name, re.compile(pattern), same, example)


VOLATILE = (
    _rule(
        "wall time and speed of a run",
        r"\([\d.,]+ m?s, [\d,]+ updates/s\)",
        "(… s, … updates/s)",
        "runs/world-1-1  (0.14 s, 6,454 updates/s)",
    ),
    _rule("wall time of pytest", r"\bin \d+\.\d+s\b", "in … s", "3 passed in 1.47s"),
    _rule(
        "wall time in words",
        r"\b(?:about )?[\d.]+ (?:ms|s|min|minutes?|seconds?) (of wall time|of processor time)",
        r"… \1",
        "about 12 s of processor time",
    ),
    _rule(
        "estimated wall time",
        r"\babout (?:(?:a|an|[\d.]+) (?:ms|s|min|minutes?|seconds?|h|hours?))\b",
        "about … s",
        "it takes about 40 s",
    ),
    _rule(
        "processors of the machine", r"\bwith \d+ workers?\b", "with … workers", "with 2 workers"
    ),
    _rule("version", r"\bhush \d+\.\d+\.\d+\S*", "hush …", "hush 0.10.0"),
    _rule("digest of values", r"\bvalues? [0-9a-f]{16}…", "value …", "value 761147f3d1fb163b…"),
    _rule("rounding of a sum", r"\b\d(?:\.\d+)?e-1\d\b", "0", "4 ± 8.9e-16"),
)


def alike(line: str) -> str:
    """Return a line with what is volatile in it replaced, and without blanks at its end."""
    for rule in VOLATILE:
        line = rule.pattern.sub(rule.same, line)
    return line.rstrip()


def agree(shown: list[str], printed: list[str]) -> bool:
    """Tell whether lines of a page are what was printed; a line `…` of the page stands for any lines."""
    pattern = [None if line.strip() == LEFT_OUT else alike(line) for line in shown]
    text = [alike(line) for line in printed]
    reach = {0}
    for wanted in pattern:
        if wanted is None:
            reach = set(range(min(reach), len(text) + 1)) if reach else reach
        else:
            reach = {at + 1 for at in reach if at < len(text) and text[at] == wanted}
    return len(text) in reach


def renewed(shown: list[str], printed: list[str]) -> list[str]:
    """Return what a page should show: what was printed, cut where the page cuts it.

    Lines that differ in nothing but what is volatile stay as the page has them. What a page leaves out is found by the
    lines beside each `…`, whatever numbers they hold. Where the only `…` of a block has none of them any more, as many
    lines as before are kept at the beginning and at the end; with several it raises ValueError.
    """
    if agree(shown, printed):
        return shown
    old = {alike(line): line for line in shown}
    text = [old.get(alike(line), line.rstrip()) for line in printed]
    parts: list[list[str]] = [[]]
    for line in shown:
        if line.strip() == LEFT_OUT:
            parts.append([])
        else:
            parts[-1].append(line)
    if len(parts) == 1:
        return text
    kept = _found_again(parts, text)
    if kept is None and len(parts) == 2:
        head, tail = len(parts[0]), len(parts[1])
        whole = head + tail >= len(text)
        kept = [text] if whole else [text[:head], text[len(text) - tail :]]
    if kept is None:
        raise ValueError("lines beside a … are printed no more: change this block by hand")
    new = kept[0]
    for part in kept[1:]:
        new = [*new, LEFT_OUT, *part]
    return new


def _found_again(parts: list[list[str]], text: list[str]) -> list[list[str]] | None:
    """Return the lines of a text from the first to the last one of each part; None: a line beside a cut is not there."""
    keys = [_words(line) for line in text]
    at = 0
    kept: list[list[str]] = []
    for number, part in enumerate(parts):
        words = [_words(line) for line in part if line.strip()]
        first, last = number == 0, number == len(parts) - 1
        if not words:
            if not first and not last:
                return None
            kept.append([])
            continue
        try:
            begin = 0 if first else keys.index(words[0], at)
            at = len(text) if last else keys.index(words[-1], begin) + 1
        except ValueError:
            return None
        kept.append(text[begin:at])
    return kept


def _words(line: str) -> str:
    return re.sub(r"[-−+]?\d[\d.,e-]*", "#", alike(line))


@dataclass(frozen=True)
class Outcome:
    """What a block did: its exit code and what it printed, on both streams, in lines."""

    block: Block
    code: int
    printed: list[str]


@contextmanager
def reader_folder(text: str) -> Iterator[tuple[Path, dict[str, str]]]:
    """Make an empty folder, and the environment of a reader who installed what a page names: this tree is its `hush`."""
    python = reader_python(installed(text))
    place = Path(tempfile.mkdtemp(prefix="page-"))
    try:
        tools, work = place / "bin", place / "work"
        tools.mkdir()
        work.mkdir()
        for name, words in (("hush", "-m hush"), ("python", ""), ("python3", ""), ("pytest", "-m pytest")):  # fmt: skip
            (tools / name).write_text(f'#!/bin/sh\nexec "{python}" {words} "$@"\n')
            (tools / name).chmod(0o755)
        kept: dict[str, str] = {
            key: value
            for key, value in os.environ.items()
            if not key.startswith(("HUSH_", "PYTEST_", "COV_")) and key not in {"CI", "PYTHONPATH"}
        }
        yield (
            work,
            kept
            | {
                "PATH": f"{tools}:{os.environ['PATH']}",
                "PYTHONPATH": str(ROOT),
                "PYTHONUNBUFFERED": "1",
                "COLUMNS": "100",
                "LINES": "30",
                "LC_ALL": "C.UTF-8",
                "NO_COLOR": "1",
                "OMP_NUM_THREADS": "1",
            },
        )
    finally:
        shutil.rmtree(place, ignore_errors=True)


def run_block(block: Block, folder: Path, environment: dict[str, str]) -> Outcome:
    """Run one block of shell or Python in the folder of its page."""
    command = ["python", "-"] if block.language == "python" else ["bash", "-eu", "-s"]
    done = subprocess.run(
        command,
        cwd=folder,
        env=environment,
        input=block.text,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
        timeout=LIMIT_S,
    )
    text = done.stdout.replace(str(folder), HOME)
    return Outcome(block, done.returncode, text.rstrip("\n").split("\n") if text.strip() else [])


def session(page: str, text: str | None = None) -> Iterator[Outcome]:
    """Run the blocks of a page in their order, and yield what each did; files that it shows are saved on the way."""
    whole = page_text(page) if text is None else text
    with reader_folder(whole) as (folder, environment):
        for block in blocks(page, whole):
            how = way(block)
            if how == "file":
                assert block.file is not None
                path = folder / block.file
                path.parent.mkdir(parents=True, exist_ok=True)
                with path.open("a" if block.adds else "w", encoding="utf-8") as file:
                    file.write(("\n" if block.adds else "") + block.text)
            elif how == "run":
                yield run_block(block, folder, environment)


def shown_after(block: Block, all_: list[Block]) -> Block | None:
    """Return the output block right below a block; None: the page shows no output of it."""
    return next((one for one in all_ if one.after == block and way(one) == "output"), None)


@dataclass(frozen=True)
class Difference:
    """A block that failed, or whose output is not what the page shows; `new` are the lines that it should show."""

    place: str
    why: str
    output: Block | None
    new: list[str]


def differences(page: str, text: str | None = None) -> list[Difference]:
    """Run a page and return where it does not do what it says."""
    all_ = blocks(page, text)
    found = []
    for outcome in session(page, text):
        block, shown = outcome.block, shown_after(outcome.block, all_)
        if outcome.code != 0:
            ends = "\n".join(outcome.printed[-15:])
            found.append(Difference(block.place, f"`{block.first}` ended with {outcome.code}:\n{ends}", None, []))  # fmt: skip
        elif any("Traceback (most recent call last)" in line for line in outcome.printed):
            found.append(Difference(block.place, f"`{block.first}` printed a traceback", None, []))
        if shown is None:
            continue
        lines = shown.text.rstrip("\n").split("\n") if shown.text.strip() else []
        if agree(lines, outcome.printed):
            continue
        try:
            new = renewed(lines, outcome.printed)
            why = "prints something else than the page shows"
        except ValueError as problem:
            new, why = lines, str(problem)
        changed = difflib.unified_diff(
            list(map(alike, lines)), list(map(alike, new)), "page", "printed", lineterm="", n=1
        )
        found.append(Difference(shown.place, f"`{block.first}`: {why}\n" + "\n".join(changed), shown, new))  # fmt: skip
    return found


def rewritten(text: str, found: list[Difference]) -> str:
    """Return the text of a page with the outputs that were found in it."""
    lines = text.split("\n")
    for one in sorted(found, key=lambda each: -(each.output.line if each.output else 0)):
        if one.output is None:
            continue
        indent = re.match(" *", lines[one.output.line - 1])
        assert indent is not None
        old = one.output.text.count("\n")
        new = [(indent[0] + line).rstrip() for line in one.new]
        lines[one.output.line : one.output.line + old] = new
    return "\n".join(lines)
