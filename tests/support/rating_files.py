"""Small files in the form of MovieLens 100K."""

from pathlib import Path
from typing import Any

import numpy as np

from scenarios.planning.datasets import Demands, Shards
from scenarios.planning.files import Folders
from scenarios.planning.seeds import generator
from tests.support.kinds import load

Rows = list[tuple[int, int, int]]
"""User, item and rating of each line."""
GENRES = 19


def some_ratings(users: int = 12, items: int = 15, share: float = 0.7, seed: int = 1) -> Rows:
    """Draw ratings: users 4, 7, 10 …, items 3, 5, 7 …, a share of all pairs, lines in random order."""
    luck = generator(seed, "ratings")
    pairs = [(u, i) for u in range(users) for i in range(items) if luck.random() < share]
    drawn = [pairs[k] for k in luck.permutation(len(pairs))]
    return [(3 * u + 4, 2 * i + 3, int(luck.integers(1, 6))) for u, i in drawn]


def write(folder: Path, rows: Rows) -> Path:
    """Write the two files into a folder `ml-100k`, and return the folder around it."""
    own = folder / "ml-100k"
    own.mkdir(parents=True, exist_ok=True)
    lines = [f"{user}\t{item}\t{rating}\t881250949\n" for user, item, rating in rows]
    (own / "u.data").write_text("".join(lines))
    kinds = [item_line(item) for item in sorted({item for _, item, _ in rows})]
    (own / "u.item").write_text("".join(kinds), encoding="latin-1")
    return folder


def item_line(item: int) -> str:
    """Return a line of u.item: item k has genres k mod 19 and 7k mod 19."""
    flags = ["1" if g in {item % GENRES, 7 * item % GENRES} else "0" for g in range(GENRES)]
    return "|".join([str(item), "Café (1995)", "01-Jan-1995", "", "", *flags]) + "\n"


def movielens(folder: Path, agents: int = 12, seed: int = 1, **keys: Any) -> Shards:
    """Return the points of agents from files of a folder."""
    data = {"source": "movielens", "checksum": "any"} | keys
    return load(data, agents, seed, Folders(folder), Demands(labelled=False))


def points(rows: Any) -> list[tuple[float, ...]]:
    """Return points as lists of numbers, in order."""
    x, y = rows
    return sorted(
        (*row, label)
        for row, label in zip(np.round(x, 12).tolist(), np.round(y, 12).tolist(), strict=True)
    )
