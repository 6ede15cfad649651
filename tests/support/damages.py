"""Damages of a run's folder, made by a generator: what is done to one file, and whether the manifest is made to agree."""

import hashlib
import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from scenarios.records.record_file import BEGIN_BYTES, HEAD_BYTES, WORD, head_of

RECORD = "record-00000.hush"
OF_AN_END = ("ledger.jsonl", "summary.json", "verdicts.json", "models.npz", "metrics.parquet")
FILES = (
    *("scenario.toml", "resolved.toml", "world.json", "data.json", "metrics.csv", "inputs.jsonl"),
    *(RECORD, RECORD, RECORD),  # the record is what all else rests on: it is damaged more often
    *OF_AN_END,
)


class Dice:
    """Draws of one damage."""

    def __init__(self, number: int, family: int = 27) -> None:
        """Begin the draws of the `number`-th damage of a family of damages."""
        self._rng = np.random.Generator(np.random.PCG64([family, number]))

    def below(self, most: int) -> int:
        return int(self._rng.integers(max(1, most)))

    def of(self, options: Any) -> Any:
        return options[self.below(len(options))]


class Target(NamedTuple):
    """A file to be damaged."""

    file: Path
    dice: Dice
    other: Path
    """The folder of another run, whose file may take its place."""


def frames(data: bytes) -> list[int]:
    """Return where each frame of a record ends, the last one left out."""
    ends, place = list[int](), BEGIN_BYTES
    while place < len(data):
        head = head_of(data[place : place + HEAD_BYTES])
        assert head is not None
        place += HEAD_BYTES + head.words * WORD
        ends.append(place)
    return ends[:-1]


def _delete(of: Target) -> None:
    of.file.unlink()


def _empty(of: Target) -> None:
    of.file.write_bytes(b"")


def _cut(of: Target) -> None:
    of.file.write_bytes(of.file.read_bytes()[: of.dice.below(of.file.stat().st_size)])


def _cut_at_a_frame(of: Target) -> None:
    data = of.file.read_bytes()
    of.file.write_bytes(
        data[: of.dice.of(frames(data))] if of.file.name == RECORD else data[: len(data) // 2]
    )


def _flip(of: Target) -> None:
    data = bytearray(of.file.read_bytes() or b"\0")
    data[of.dice.below(len(data))] ^= 1 << of.dice.below(8)
    of.file.write_bytes(bytes(data))


def _exchange(of: Target) -> None:
    shutil.copy(of.other / of.file.name, of.file)


def _lower(of: Target) -> None:
    """Make numbers smaller: of a summary its ε and its counts, of the plan and the world δ; of other files any digit."""
    if of.file.suffix == ".json":
        of.file.write_text(json.dumps(_lowered(json.loads(of.file.read_text()), of.dice)))
    else:
        data = of.file.read_bytes()
        places = [i for i, byte in enumerate(data) if byte in b"23456789"]
        if places:
            i = of.dice.of(places)
            of.file.write_bytes(data[:i] + b"1" + data[i + 1 :])


def _lowered(tree: Any, dice: Dice) -> Any:
    if isinstance(tree, dict):
        return {key: _lowered(value, dice) for key, value in tree.items()}
    if isinstance(tree, list):
        return [_lowered(value, dice) for value in tree]
    if isinstance(tree, float) and dice.below(3):
        return tree / 10
    return tree - 1 if type(tree) is int and tree > 1 and not dice.below(3) else tree


ACTS: tuple[Callable[[Target], None], ...] = (
    *(_delete, _empty, _cut, _cut_at_a_frame, _flip, _exchange, _lower),
)
SEALS = ("as it was", "unlisted", "sealed again", "no checksums")
STATUSES = ("finished", "finished", "finished", "running", "failed", "interrupted")


def damage(folder: Path, number: int, other: Path) -> str:
    """Damage a copy of a finished run in the `number`-th way, and say how; `other` is a finished run of another seed."""
    dice = Dice(number)
    done = []
    for _ in range(1 + dice.below(2)):
        file = folder / dice.of([name for name in FILES if (folder / name).exists()])
        act = dice.of(ACTS)
        act(Target(file, dice, other))
        done.append((file, act.__name__.strip("_")))
    seal, status = dice.of(SEALS), dice.of(STATUSES)
    manifest = json.loads((folder / "manifest.json").read_text())
    manifest["status"] = status
    for file, _ in done:
        if seal == "unlisted" or (seal == "sealed again" and not file.exists()):
            manifest["sha256"].pop(file.name, None)
        elif seal == "sealed again":
            manifest["sha256"][file.name] = hashlib.sha256(file.read_bytes()).hexdigest()
    if seal == "no checksums":
        del manifest["sha256"]
    (folder / "manifest.json").write_text(json.dumps(manifest))
    acts = ", ".join(f"{act} {file.name}" for file, act in done)
    return f"{number}: {acts}; {seal}; {status}"
