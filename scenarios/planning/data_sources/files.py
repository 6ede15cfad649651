"""Points that are read: one archive for each agent."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from scenarios.language.table_rules import REQUIRED, key
from scenarios.language.value_rules import Text
from scenarios.planning.data_sources import SourceInputs, SourceKind, SourceTable
from scenarios.planning.files import BadData, Folders
from scenarios.planning.splits import NoSplit

if TYPE_CHECKING:
    from scenarios.planning.datasets import Shards
    from scenarios.planning.packed_points import Points


class FilesTable(SourceTable):
    """A folder of archives 000.npz, 001.npz …, each x (m × d) and y (m); test/000.npz … may be there."""

    path: str = key(
        Text("a path"),
        REQUIRED,
        words="The folder that holds `000.npz` …, one archive with `x` and `y` for each agent.",
    )

    def amount(self, _: int) -> None:
        return None

    def files(self, folders: Folders) -> Iterator[tuple[str, Path]]:
        """Yield the archives of the folder, but for a link that leads out: it is not read either."""
        folder = folders.find(self.path)
        for file in sorted(path for path in folder.rglob("*.npz") if path.is_file()):
            if folders.is_inside(file):
                yield f"{self.path}/{file.relative_to(folder).as_posix()}", file

    def build(self, inputs: SourceInputs) -> "Shards":
        """Read the archives of a folder, in the order of their numbers."""
        from scenarios.planning import shared_rows
        from scenarios.planning.datasets import Shards

        n, folders = inputs.agents, inputs.folders
        folder = folders.find(self.path)
        if self.split is not None:
            raise NoSplit("files are split already: one file each")
        left = folders.most

        def read(path: Path) -> "Points":
            nonlocal left
            x, y = _archive(path, left)
            left -= x.nbytes + y.nbytes
            return x, y

        train: list[Points] = []
        paths: list[Path] = []
        for i in range(n):
            path = folders.below(folder, f"{i:03d}.npz")
            if path is None:
                raise BadData(f"no such file: {i:03d}.npz in {folder.name}")
            train.append(read(path))
            paths.append(path)
        if (folder / f"{n:03d}.npz").exists():
            raise BadData(f"{folder.name} holds more files than the {n} agents of [[nodes]]")
        tests = [folders.below(folder, f"test/{i:03d}.npz") for i in range(n)]
        test = [read(path) for path in tests if path is not None]
        if test and len(test) != n:
            raise BadData(f"{folder.name}/test holds {len(test)} files for {n} agents")
        dimensions = {x.shape[1] for x, _ in (*train, *test) if x.ndim == 2}
        if len(dimensions) > 1:
            raise BadData(f"all agents need one dimension, got {sorted(dimensions)}")
        shared = shared_rows.by_file(paths, [len(y) for _, y in train])
        declared = []
        for path, (_, y) in zip(paths, train, strict=True):
            rows = _declared(path, len(y), left)
            if rows is not None:
                left -= rows.nbytes
                declared.append(rows)
        return Shards(
            tuple(train), tuple(test), None, None, (), max(shared, shared_rows.by_number(declared))
        )


def _declared(path: Path, points: int, most: float) -> Any:
    """Return the whole numbers that a file declares for its points (`rows`); None where it does not."""
    from scenarios.planning import shared_rows
    from scenarios.planning.array_files import holds, refusal, stored

    if not holds(path, "rows"):
        return None
    with refusal(f"{path.name}: rows cannot be read"):
        (rows,) = stored(path, "rows", most=most)
    try:
        return shared_rows.numbered(rows, points)
    except ValueError as error:
        raise BadData(f"{path.name}: {error}") from None


def _archive(path: Path, most: float) -> "Points":
    """Return the arrays x and y of an archive. Raises BadData."""
    from scenarios.planning.array_files import arrays, refusal

    with refusal(f"{path.name} must hold arrays x and y of numbers"):
        x, y = arrays(path, "x", "y", most=most)
    return x, y


KIND = SourceKind("files", FilesTable, example={"path": "nodes"})
