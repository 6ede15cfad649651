"""Rows of `metrics.csv` hold every digit of a number, as Python writes it."""

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scenarios.records import metric_rows, run_folder
from scenarios.records.metric_rows import rows_of
from scenarios.records.run_folder import RunFolder, first_manifest

numbers = st.one_of(
    st.none(),
    st.sampled_from(["inf", "-inf"]),
    st.integers(-(10**12), 10**12),
    st.floats(allow_nan=False, allow_infinity=False),
    st.sampled_from([0.0, -0.0, 1e-4, 9.9e-5, -1e-5, 10.00001, 1e16, 9007199254740993.0, 5e-324]),
)
samples = st.dictionaries(
    st.sampled_from(["loss", "epsilon", "messages.sent"]), st.lists(numbers, max_size=5) | numbers
)


def plainly(t: str, values: dict[str, Any]) -> bytes:
    """Each row by itself."""
    rows = []
    for name, value in values.items():
        each = list(enumerate(value)) if isinstance(value, list) else [("", value)]
        rows += [f"{t},{i},{name},{'' if v is None else v}\n" for i, v in each]
    return "".join(rows).encode()


@settings(max_examples=50)
@given(samples)
def test_rows_are_numbers_as_python_writes_them(values: dict[str, Any]) -> None:
    assert b"".join(rows_of(1_500_000_000, values)) == plainly("1.5", values)


def test_many_rows_come_in_parts_of_whole_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    """No part is much longer than a part may be, whatever the number of agents."""
    monkeypatch.setattr(metric_rows, "_AT_ONCE", 7)
    monkeypatch.setattr(metric_rows, "_PART", 100)
    values = {"loss": [i / 3 for i in range(50)], "rounds": 3}
    parts = list(rows_of(0, values))
    assert b"".join(parts) == plainly("0", values)
    assert all(part.endswith(b"\n") for part in parts)
    assert max(map(len, parts)) < 100 + 7 * 40


def test_parquet_holds_the_rows_with_the_same_types_in_every_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where no instant has a fraction and no value is a number, and where the rows are many parts."""
    parquet = pytest.importorskip("pyarrow.parquet")
    monkeypatch.setattr(run_folder, "_BLOCK", 4096)
    samples: list[tuple[int, dict[str, Any]]] = [
        (0, {"rounds": 3, "gap": None}),
        (10**9, {"epsilon": ["inf", 0.5, None] * 200, "loss": [1e-7, 3, -0.0]}),
    ]
    for count in (1, 2):
        place = tmp_path / str(count)
        folder = RunFolder(place, first_manifest("rows", 1, "virtual", "events"))
        rows = b"".join(part for t, values in samples[:count] for part in rows_of(t, values))
        (place / "metrics.csv").write_bytes(metric_rows.HEADER + rows)
        folder.write_end({}, "", {})
        table = parquet.read_table(place / "metrics.parquet")
        assert [str(kind) for kind in table.schema.types] == ["double", "int64", "string", "double"]
        told = [line.split(",") for line in rows.decode().splitlines()]
        assert table.to_pylist() == [
            {
                "t": float(t),
                "node": int(node) if node else None,
                "metric": metric,
                "value": float(value) if value else None,
            }
            for t, node, metric, value in told
        ]
