"""Pools that were read from files, kept for further plans of the same process."""

from collections.abc import Callable, Hashable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from scenarios.planning.pool import Pool

_MOST_POOLS = 2
_MOST_BYTES = 1 << 28
"""So many pools of at most so many bytes each are kept."""
_pools: dict[Hashable, "Pool"] = {}


def kept(how: Hashable, paths: Sequence[Path], read: "Callable[[], Pool]") -> "Pool":
    """Return a pool that was read before from the same files in the same way, else read it.

    A file is the same where its place, its size and the time of its last change are. No one may write into a kept pool.
    """
    stats = [path.stat() for path in paths]
    places = [
        (path, stat.st_size, stat.st_mtime_ns, stat.st_ino)
        for path, stat in zip(paths, stats, strict=True)
    ]
    key = (how, *places)
    pool = _pools.pop(key, None)
    if pool is None:
        pool = read()
        pool.x.flags.writeable = pool.y.flags.writeable = False
    if pool.x.nbytes <= _MOST_BYTES:
        _pools[key] = pool
        while len(_pools) > _MOST_POOLS:
            _pools.pop(next(iter(_pools)), None)
    return pool
