"""Reads what an audit left in its folder: `audit.json`."""

from pathlib import Path
from typing import Literal

import msgspec

from scenarios.language.json_numbers import number
from scenarios.records.file_guard import FolderError, decoded, guarded

AUDIT = "audit.json"
_MOST = 1 << 24
"""A file of more bytes is no audit."""
_Figure = float | Literal["inf", "-inf"] | None


class AuditedPoint(msgspec.Struct, frozen=True):
    """After so many releases: the lower bound, what the calibration claims, and what the ledger charges."""

    releases: int
    audited: _Figure
    claimed: _Figure
    charged: _Figure


class AuditedEpsilon(msgspec.Struct, frozen=True):
    """The three figures of an audit, and what they are of."""

    audited: _Figure
    claimed: _Figure
    charged: _Figure
    delta: float
    view: str
    accountant: str


class Audit(msgspec.Struct, frozen=True):
    """What is needed of `audit.json`."""

    scenario: str
    seed: int
    mechanism: str
    verdict: str
    epsilon: AuditedEpsilon
    runs: int
    confidence: float
    curve: list[AuditedPoint] = []


class AuditRecord:
    """The record of one audit. Raises `FolderError` where `path` holds none."""

    def __init__(self, path: Path) -> None:
        self.path = path
        file = path / AUDIT
        try:
            if file.stat().st_size > _MOST:
                raise FolderError(f"{file} is damaged: it has more than {_MOST:,} bytes")
            data = file.read_bytes()
        except OSError:
            raise FolderError(
                f"{path} is not the folder of an audit: it has no readable {AUDIT}"
            ) from None
        tree = decoded(data, file, Audit)
        with guarded(file):
            self.audit = msgspec.convert(tree, Audit)

    @property
    def points(self) -> list[tuple[int, float, float, float]]:
        """Releases, lower bound, claim and charge of each point; NaN where there is no figure."""
        return [
            (p.releases, number(p.audited), number(p.claimed), number(p.charged))
            for p in self.audit.curve
        ]


def is_audit(path: Path) -> bool:
    """Whether a folder is that of an audit."""
    return (path / AUDIT).is_file()
