"""A run's folder: how it is chosen and held, what its files are called, and the files that are not streams."""

import errno
import hashlib
import json
import os
import platform
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from itertools import count
from pathlib import Path
from typing import Any

import msgspec

try:
    import fcntl
except ImportError:  # not on Windows
    fcntl = None  # type: ignore[assignment]

from scenarios.language.json_table import JsonTable
from scenarios.records.file_guard import FolderError
from scenarios.records.whole_file import is_of_the_disk, write_new, write_over, writing

SCHEMA = 2
"""Of a run's folder. Another one is refused in a sentence."""
MANIFEST, SCENARIO, RESOLVED, WORLD = (
    "manifest.json",
    "scenario.toml",
    "resolved.toml",
    "world.json",
)
DATA = "data.json"
LEDGER, METRICS, INPUTS = "ledger.jsonl", "metrics.csv", "inputs.jsonl"
PARQUET = "metrics.parquet"
SUMMARY, VERDICTS, MODELS = "summary.json", "verdicts.json", "models.npz"
FOLDED, FLAMES = "profile.folded", "profile.svg"
"""Where the processor time of a run went: stacks as text, and a flame graph. They tell of a machine, and no digest has them."""
AT_THE_END = (SUMMARY, VERDICTS, MODELS)
"""What is written once, when a run is over."""
_ROWS = 4096
"""So many rows of a table are written at once."""
_BLOCK = 1 << 20
"""So many bytes of metrics become Parquet at once."""
_ROOM = 8192
"""The first manifest is padded to this size, so that a full disk can still be told in it."""


def version() -> str:
    """Return the version of hush."""
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version("hush-sim")
    except PackageNotFoundError:
        return "0+unknown"


def environment() -> dict[str, str | int | None]:
    """Return what the value digest depends on; a value is None where it is not known."""
    import numpy as np

    from scenarios.planning.blas_threads import blas_threads

    return {
        "python": platform.python_version(),
        "numpy": np.__version__,
        "machine": platform.machine(),
        "system": platform.system(),
        "blas_threads": blas_threads(),
    }


def choose(name: str, seed: int, out: str | None) -> Path:
    """Return a folder for one run: a new one that no other process gets, or the one asked for when it is empty.

    The one asked for is not made here: it belongs to the `RunFolder` that first writes its manifest into it.
    """
    if out is None:
        return numbered(f"runs/{name}-{seed}")
    path = folder_named(out)
    if path.exists() and (not path.is_dir() or any(path.iterdir())):
        raise FolderError(f"{out} exists and is not an empty folder: nothing was written")
    return path


def folder_named(out: str) -> Path:
    """Return the path that `--out` names; raise `FolderError` where no folder can have it."""
    path = Path(out)
    if len(out) > 4000 or max(map(len, path.parts), default=0) > 255:
        raise FolderError("--out: the path is too long")
    return path


def numbers(stem: str) -> Iterator[Path]:
    """Yield stem-1, stem-2 … without end."""
    return (Path(f"{stem}-{number}") for number in count(1))


def numbered(stem: str) -> Path:
    """Make the first of stem-1, stem-2 … that is not there yet: of several processes each gets its own."""
    return next(path for path in numbers(stem) if _make(path))


def _make(path: Path) -> bool:
    """Make a folder and whatever it lies in; false where it was there, or another process was faster."""
    with writing(path.parent, "made"):
        path.parent.mkdir(parents=True, exist_ok=True)
    with writing(path, "made"):
        try:
            path.mkdir()
        except FileExistsError:
            return False
    return True


def abandon(path: Path) -> None:
    """Remove a folder that is not needed after all; one that holds anything stays."""
    with suppress(OSError):
        path.rmdir()


def refuse_if_used(path: Path) -> None:
    """Raise `FolderError` where a folder holds anything."""
    if any(path.iterdir()):
        raise FolderError(f"{path} exists and is not an empty folder: nothing was written")


@contextmanager
def lock_folder(
    places: Iterable[Path], judge: Callable[[Path], None] = refuse_if_used, *, new: bool = False
) -> Iterator[Path]:
    """Hold the first of some folders in which no other process works, until the block ends; it is made if need be.

    With `new`, only one that was not there will do. `judge` raises where what lies in a folder stands in the way: it is
    asked when no other process can add to it any more. A folder that was made here is removed again where the block raises
    and leaves it empty. Raises `FolderError` where all are in use.
    """
    path = None
    for path in places:
        is_new = _make(path)
        lock = None if new and not is_new else _lock(path)
        if lock is None:
            continue
        try:
            judge(path)
            yield path
        except BaseException:
            if is_new:
                abandon(path)
            raise
        finally:
            os.close(lock)
        return
    raise FolderError(f"{path} is in use: another hush works in it")


def _lock(path: Path) -> int | None:
    """Lock a folder and return the descriptor that holds the lock; None where another process has it.

    The system takes the lock back when the process ends, however that happens. Where there are no such locks (fcntl is of
    POSIX) nothing is held.
    """
    if not path.is_dir():
        raise FolderError(f"{path} is not a folder")
    if fcntl is None:
        return os.open(os.devnull, os.O_RDONLY)
    file = os.open(path, os.O_RDONLY)
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(file)
        return None
    except OSError:  # a file system without locks
        return file
    return file


def first_manifest(scenario: str, seed: int, engine: str, path: str) -> dict[str, Any]:
    """Return the manifest of a run that begins; `path` is how its wakes are computed."""
    return {
        "schema": SCHEMA,
        "status": "running",
        "steered_by_hand": False,
        "hush": version(),
        "scenario": scenario,
        "seed": seed,
        "engine": engine,
        "path": path,
        "environment": environment(),
        "digests": {},
    }


class RunFolder:
    """Writes the files of a run that are not streams."""

    def __init__(self, path: Path, manifest: dict[str, Any]) -> None:
        self.path = path
        self._manifest = manifest
        self._hashes: dict[str, str] = {}
        with writing(path, "made"):
            try:
                path.mkdir(parents=True, exist_ok=True)
                is_first = write_new(path / MANIFEST, self._text().ljust(_ROOM))  # it is there once
            except FileExistsError:
                is_first = False
        if not is_first:
            problem = "holds a run already, or is no folder: nothing was written"
            raise FolderError(f"{str(path)[:200]} {problem}")

    def note(self, **more: Any) -> None:
        """Write something into the manifest of a run that goes on: in place, for it may be killed at any time."""
        if self._manifest | more == self._manifest:
            return
        self._manifest |= more
        self._overwrite_manifest()

    def _overwrite_manifest(self) -> None:
        """Write the manifest in place; without its checksums where these have no room: it then vouches for no file."""
        file = self.path / MANIFEST
        if not write_over(file, self._text()):
            self._manifest.pop("sha256", None)
            if not write_over(file, self._text()):
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(file))

    def _text(self) -> bytes:
        text = json.dumps(self._manifest, indent=2, ensure_ascii=False) + "\n"
        return text.encode(errors="replace")  # a message of own code may hold half a character

    def write(self, name: str, data: bytes) -> None:
        """Write one whole file: a reader, or a run that is killed, finds it as it was before or as it is now."""
        self.write_parts(name, (data,))

    def write_parts(self, name: str, parts: Iterable[bytes]) -> None:
        """Write one whole file, as `write` does, part by part."""
        fresh, digest = self.path / f"{name}.new", hashlib.sha256()
        try:
            with fresh.open("wb") as file:
                for part in parts:
                    file.write(part)
                    digest.update(part)
            fresh.replace(self.path / name)
        except OSError:
            fresh.unlink(missing_ok=True)
            raise
        self._hashes[name] = digest.hexdigest()

    def _write_arrays(self, name: str, arrays: Mapping[str, Any]) -> None:
        """Do the same with an archive of arrays."""
        import numpy as np

        fresh = self.path / f"{name}.new"
        try:
            with fresh.open("wb") as file:
                np.savez(file, **arrays)
            self._take_over(fresh, name)
        except OSError:
            fresh.unlink(missing_ok=True)
            raise

    def write_json(self, name: str, tree: Any) -> None:
        """Write one whole file of JSON."""
        self.write_parts(name, json_parts(tree))

    def write_end(self, summary: dict[str, Any], resolved: str, models: Mapping[str, Any]) -> None:
        """Write what is written once, when a run is over; metrics as Parquet, too, where pyarrow is installed."""
        self.write_json(SUMMARY, summary)
        self.write_json(
            VERDICTS,
            {key: summary.get(key) for key in ("verdict", "invariants", "expectations")},
        )
        self.write(RESOLVED, resolved.encode())
        self._write_arrays(MODELS, models)
        with suppress(ImportError):
            self._write_parquet(PARQUET)

    def _write_parquet(self, name: str) -> None:
        """Write the metrics as Parquet, part by part and with the same types in every run.

        Raises ImportError without pyarrow.
        """
        import pyarrow as pa
        from pyarrow import csv, float64, int64, parquet, string

        kinds = {"t": float64(), "node": int64(), "metric": string(), "value": float64()}
        typed, block = (
            csv.ConvertOptions(column_types=kinds),
            csv.ReadOptions(use_threads=False, block_size=_BLOCK),
        )
        metrics, fresh = self.path / METRICS, self.path / f"{name}.new"
        pool = pa.default_memory_pool()
        pa.set_memory_pool(pa.system_memory_pool())  # others keep what they had at most
        try:
            with (
                csv.open_csv(metrics, read_options=block, convert_options=typed) as rows,
                parquet.ParquetWriter(fresh, rows.schema) as file,
            ):
                for batch in rows:
                    file.write_batch(batch)
            self._take_over(fresh, name)
        except OSError:
            fresh.unlink(missing_ok=True)
            raise
        finally:
            pa.set_memory_pool(pool)

    def _take_over(self, fresh: Path, name: str) -> None:
        """Let a file that is whole take its place."""
        with fresh.open("rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
        fresh.replace(self.path / name)
        self._hashes[name] = digest

    def finish(
        self, status: str, digests: dict[str, Any], hashes: dict[str, str], **more: Any
    ) -> None:
        """Say in the manifest how the run ended; in place where the disk is full. Raises `OSError` where that fails, too.

        The names of all files are on the disk before it says so: a computer that fails leaves no end without its files.
        """
        _synchronise(self.path)
        files = dict(sorted({**self._hashes, **hashes}.items()))
        self._manifest |= {"status": status, "digests": digests, **more, "sha256": files}
        try:
            self.write(MANIFEST, self._text())
        except OSError as error:
            if not is_of_the_disk(error):
                raise
            self._overwrite_manifest()


def _synchronise(folder: Path) -> None:
    """Wait until the entries of a folder are on the disk; nothing is done where folders cannot be opened (Windows)."""
    with suppress(OSError):
        file = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(file)
        finally:
            os.close(file)


def json_parts(tree: Any) -> Iterator[bytes]:
    """Yield a JSON tree as an indented file, part by part: a table in it is never one text."""
    tables = (
        {k: v for k, v in tree.items() if isinstance(v, JsonTable)}
        if isinstance(tree, dict)
        else {}
    )
    rest = tree | {key: [] for key in tables} if tables else tree
    text = msgspec.json.format(msgspec.json.encode(rest), indent=2) + b"\n"
    for key, table in tables.items():
        head = b"\n  " + msgspec.json.encode(key) + b": ["
        before, text = text.split(head, 1)
        yield before + head
        for first in range(0, len(table), _ROWS):
            rows = list(table[first : first + _ROWS])
            lines = msgspec.json.format(msgspec.json.encode(rows), indent=2)[1:-2]
            yield (b"," if first else b"") + lines.replace(b"\n", b"\n  ")
        if len(table):
            yield b"\n  "
    yield text


def is_record(path: Path) -> bool:
    """Whether a folder is that of a run."""
    return (path / MANIFEST).exists()


def record_segment(number: int) -> str:
    """Return the name of a file of the record."""
    return f"record-{number:05d}.hush"


_SEGMENTS = "record-*.hush"


def is_segment(file: Path) -> bool:
    """Whether a file is one of the record, by its name."""
    return file.match(_SEGMENTS)


def record_segments(path: Path) -> list[Path]:
    """Return the files of the record in a folder, in their order; none where the run died before its first."""
    return sorted(path.glob(_SEGMENTS))
