"""Points in CSV and Parquet files: the same as by hand from a frame, and hostile files are refused in a sentence."""

import gzip
import re
import sys
import tomllib
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from scenarios import run_sync
from scenarios.api.runs import check, make_plan
from scenarios.language.problems import ScenarioError
from scenarios.language.writer import to_toml
from scenarios.planning import files
from scenarios.planning.datasets import Shards
from scenarios.planning.delimited import read_delimited
from tests.support.builders import scenario

AGES = [20, 30, 40, 25]
JOBS = ["clerk", 'a "smith", says he', "nurse"]
ROWS = [(AGES[i % 4], JOBS[i % 3], i % 5 - 2.5, "yes" if i % 4 == 2 else "no") for i in range(24)]
NAMES = ("age", "job", "score", "income")
KEYS: dict[str, Any] = {"label": "income", "test": 0.25, "scale": "row"}


def text(separator: str = ",") -> str:
    def cell(value: Any) -> str:
        return '"' + value.replace('"', '""') + '"' if isinstance(value, str) else str(value)

    lines = [separator.join(map(cell, row)) for row in ROWS]
    return "\n".join([separator.join(NAMES), *lines]) + "\n"


def world(source: str, folder: Path, **keys: Any) -> Path:
    """Write a scenario beside its file, and return it."""
    data = {"source": source, "path": f"people.{source}"} | KEYS | keys
    (folder / "w.toml").write_text(to_toml(scenario(data=data)))
    return folder / "w.toml"


def read_csv(folder: Path, content: str | bytes | None = None, **keys: Any) -> Shards:
    content = text() if content is None else content
    data = content.encode() if isinstance(content, str) else content
    (folder / "people.csv").write_bytes(data)
    return make_plan(world("csv", folder, **keys)).shards


def arrow(columns: dict[str, Any]) -> Any:
    return pytest.importorskip("pyarrow").table(columns)


def columns() -> dict[str, list[Any]]:
    return {name: list(values) for name, values in zip(NAMES, zip(*ROWS, strict=True), strict=True)}


def read_parquet(folder: Path, table: Any = None, **keys: Any) -> Shards:
    parquet = pytest.importorskip("pyarrow.parquet")
    parquet.write_table(arrow(columns()) if table is None else table, folder / "people.parquet")
    return make_plan(world("parquet", folder, **keys)).shards


def same(one: Shards, other: Shards) -> bool:
    pairs = [(one.common_test, other.common_test), *zip(one.train, other.train, strict=True)]
    return one.notes == other.notes and all(
        a is not None
        and b is not None
        and np.array_equal(a[0], b[0])
        and np.array_equal(a[1], b[1])
        for a, b in pairs
    )


OPTIONS: list[dict[str, Any]] = [
    {},
    {"bias": True, "columns": "max"},
    {"maximum": {"age": 100.0}, "categories": {"job": [*JOBS, "none"]}, "positive": "no"},
    {"drop": ["job", "age"], "validation": 0.25, "points": 20},
    {"categorical": ["job", "age"], "split": {"kind": "dirichlet", "alpha": 1.0}},
]


def test_points_are_those_that_a_pencil_gives(tmp_path: Path) -> None:
    """Magnitudes: 4 and 8, the second of a negative number; categories stand in the order of characters."""
    content = "a,b,who,y\n1,-8,ann,no\n-4,2,bob,yes\n2,4,ann,no\n"
    kept = {"label": "y", "test": 0.0, "columns": "max", "scale": "refuse"}
    (tmp_path / "people.csv").write_text(content)
    tree = scenario(data={"source": "csv", "path": "people.csv"} | kept, nodes=[{"count": 1}])
    tree["network"] = {}
    (tmp_path / "w.toml").write_text(to_toml(tree))
    ((x, y),) = make_plan(tmp_path / "w.toml").shards.train
    rows = sorted(
        [*features, label] for features, label in zip(x.tolist(), y.tolist(), strict=True)
    )
    assert rows == [
        [-1.0, 0.25, 0.0, 1.0, 1.0],
        [0.25, -1.0, 1.0, 0.0, -1.0],
        [0.5, 0.5, 1.0, 0.0, -1.0],
    ]


@pytest.mark.parametrize("column", ["age", "job", "income"])
@pytest.mark.parametrize("gap", ["", " ", "?", "NA", "NaN", "nan"])
def test_every_word_for_a_gap_is_one_in_numbers_words_and_labels(
    gap: str, column: str, tmp_path: Path
) -> None:
    cells = [str(value).replace('"', "").replace(",", "") for value in ROWS[3]]
    cells[NAMES.index(column)] = gap
    content = text() + ",".join(cells) + "\n"
    with pytest.raises(ScenarioError, match=rf"line 26: {column} is missing"):
        read_csv(tmp_path, content)
    assert (
        "1 rows with missing values were left out; ε takes it as public which ones"
        in read_csv(tmp_path, content, missing="drop").notes
    )


@pytest.mark.parametrize("keys", OPTIONS)
def test_a_file_and_the_frame_that_it_holds_give_the_same_points(
    tmp_path: Path, keys: dict[str, Any]
) -> None:
    pandas = pytest.importorskip("pandas")
    frame = {"frame": pandas.DataFrame(columns()), "label": "income"}
    given = {f"data.{key}": value for key, value in (KEYS | keys).items() if key != "label"}
    handed = make_plan(world("csv", tmp_path), data=frame, set=given).shards
    assert same(read_csv(tmp_path, **keys), handed)
    assert same(read_parquet(tmp_path, **keys), handed)


def test_a_file_may_be_compressed_and_its_cells_be_parted_by_other_signs(tmp_path: Path) -> None:
    plain = read_csv(tmp_path)
    assert same(plain, read_csv(tmp_path, gzip.compress(text().encode())))
    assert same(plain, read_csv(tmp_path, "\ufeff" + text().replace("\n", "\r\n")))
    for separator in (";", "\t", "|"):
        assert same(plain, read_csv(tmp_path, text(separator), separator=separator))


def test_parquet_types_that_mean_the_same_give_the_same_points(tmp_path: Path) -> None:
    pa = pytest.importorskip("pyarrow")
    plain, table = read_parquet(tmp_path), arrow(columns())
    for age in (pa.int8(), pa.uint64(), pa.float32(), pa.decimal128(24, 2)):
        cast = table.set_column(0, "age", table.column("age").cast(age))
        assert same(plain, read_parquet(tmp_path, cast))
    for job in (pa.large_string(), pa.dictionary(pa.int8(), pa.string())):
        cast = table.set_column(1, "job", table.column("job").cast(job))
        assert same(plain, read_parquet(tmp_path, cast))


def test_a_split_deals_by_a_column_also_by_one_that_is_no_feature(tmp_path: Path) -> None:
    split = {"kind": "by-column", "column": "job"}
    data = {"source": "csv", "path": "people.csv", "label": "income", "scale": "row", "test": 0.0}
    (tmp_path / "people.csv").write_text(text())
    tree = scenario(
        data=data | {"split": split, "drop": ["job"]},
        nodes=[{"count": 3}],
        network={"topology": "ring"},
    )
    (tmp_path / "w.toml").write_text(to_toml(tree))
    shards = make_plan(tmp_path / "w.toml").shards
    assert shards.dimension == 2
    ratios = [{round(float(s / a), 9) for a, s in x} for x, _ in shards.train]
    by_job = [{round(s / a, 9) for a, j, s, _ in ROWS if j == job} for job in JOBS]
    assert sorted(map(sorted, ratios)) == sorted(map(sorted, by_job))


def test_missing_cells_are_refused_by_line_or_left_out_and_counted(tmp_path: Path) -> None:
    for gap in ("", "?", "NA", " nan "):
        holed = text().replace("\n30,", f"\n{gap},", 1)
        with pytest.raises(
            ScenarioError, match=r"people\.csv, line 3: age is missing .*1 of 24 rows"
        ):
            read_csv(tmp_path, holed)
        shards = read_csv(tmp_path, holed, missing="drop", test=0.0)
        assert sum(shards.sizes) == 23
        assert (
            "1 rows with missing values were left out; ε takes it as public which ones"
            in shards.notes
        )
    empty = columns() | {"job": [None, *columns()["job"][1:]]}
    with pytest.raises(ScenarioError, match=r"people\.parquet, row 1: job is missing"):
        read_parquet(tmp_path, arrow(empty))
    assert sum(read_parquet(tmp_path, arrow(empty), missing="drop", test=0.0).sizes) == 23


def test_a_run_of_a_file_is_bound_to_its_content(tmp_path: Path) -> None:
    read_csv(tmp_path)
    run_sync(tmp_path / "w.toml", out=tmp_path / "r")
    resolved = tmp_path / "r" / "resolved.toml"
    assert list(tomllib.loads(resolved.read_text())["origin"]["sha256"]) == ["people.csv"]
    assert check(resolved).ok
    (tmp_path / "people.csv").write_text(text().replace("20,", "21,", 1))
    assert "has changed since the run" in check(resolved).problems[0]


HOSTILE: dict[str, tuple[bytes, dict[str, Any], str]] = {
    "empty": (b"", {}, "people.csv is empty"),
    "a header alone": (b"age,income\n", {}, "has no rows"),
    "ragged": (text().encode() + b"1,2\n", {}, "line 26: expected 4 values, found 2"),
    "NUL": (text().encode().replace(b"30", b"3\0", 1), {}, "line 3: a NUL byte"),
    "latin-1": (text().encode().replace(b"nurse", b"n\xffrse"), {}, "line 4: no UTF-8 text"),
    "UTF-16": (text().encode("utf-16"), {}, "is UTF-16 text"),
    "an open quote": (text().encode() + b'"', {}, "a quote is not closed"),
    "a twin": (text().encode().replace(b"score", b"age", 1), {}, 'names column "age" twice'),
    "cut gzip": (gzip.compress(text().encode())[:-9], {}, "compressed data end too early"),
    "no label": (text().encode(), {"label": "incme"}, "no column \"incme\"; did you mean 'income'"),
    "no category": (
        text().encode(),
        {"categorical": ["jb"]},
        "data.categorical: .*did you mean 'job'",
    ),
    "not declared": (
        text().encode(),
        {"categories": {"job": ["nurse"]}},
        'line 2: job has no category "clerk"',
    ),
    "above": (
        text().encode(),
        {"maximum": {"age": 35.0}},
        "line 4: age is 40, above its declared maximum 35",
    ),
    "infinite": (text().encode().replace(b"\n30,", b"\ninf,", 1), {}, "line 3: age is infinite"),
    "a word among numbers": (
        text().encode().replace(b"\n30,", b"\n3O,", 1),
        {"categorical": ["job"]},
        "age is a word",
    ),
    "other digits": (
        text().encode().replace(b"\n30,", "\n３０,".encode(), 1),
        {"categorical": ["job"]},
        "age is a word",
    ),
    "a number as the label": (
        text().encode(),
        {"label": "age"},
        r"labels take 4 values \(20, 25, 30, 40\)",
    ),
    "names": (
        b"name,income\n" + b"".join(b"n%d,%d\n" % (i, i % 2) for i in range(200)),
        {},
        "200 different ones",
    ),
    "gaps in every row": (
        b"age,income\n" + b"?,yes\n" * 9,
        {"missing": "drop"},
        "line 2: age is missing, and each of 9 rows has a gap: none is left",
    ),
    "no label at all": (
        b"age,income\n" + b"30,?\n" * 9,
        {"missing": "drop"},
        "line 2: income is missing, and each of 9 rows has a gap: none is left",
    ),
    "another separator": (text().encode(), {"separator": ";"}, "data.separator = ','"),
}


@pytest.mark.parametrize("how", HOSTILE)
def test_a_hostile_csv_is_refused_in_one_sentence(tmp_path: Path, how: str) -> None:
    content, keys, said = HOSTILE[how]
    (tmp_path / "people.csv").write_bytes(content)
    problems = check(world("csv", tmp_path, **keys)).problems
    assert re.search(said, problems[0]), problems


def test_no_file_a_folder_and_a_link_that_leads_out(tmp_path: Path) -> None:
    inside = tmp_path / "in"
    inside.mkdir()
    assert "no such file: people.csv" in check(world("csv", inside)).problems[0]
    (tmp_path / "secret.csv").write_text(text())
    (inside / "people.csv").symlink_to(tmp_path / "secret.csv")
    assert "must stay in the scenario's folder" in check(world("csv", inside)).problems[0]
    (inside / "people.csv").unlink()
    (inside / "people.csv").mkdir()
    assert "people.csv cannot be read" in check(world("csv", inside)).problems[0]
    assert (
        "people.csv cannot be read"
        in check(world("parquet", inside, path="people.csv")).problems[0]
    )


def test_what_is_too_large_is_refused_before_it_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two words in a thousand columns each: the features need more than may be taken, the text does not."""
    monkeypatch.setattr("scenarios.planning.context.MOST_BYTES", 300_000)
    assert files.MOST_BYTES > 300_000
    rows = "\n".join(f"w{i},{i % 2}" for i in range(1000))
    with pytest.raises(ScenarioError, match="1,000 × 1,000 numbers"):
        read_csv(tmp_path, f"word,income\n{rows}\n", categorical=["word"])


@pytest.mark.slow
def test_hostile_parquet_is_refused_in_one_sentence(tmp_path: Path) -> None:
    pa = pytest.importorskip("pyarrow")
    nested = arrow(columns()).append_column("list", [[[1]] * 24])
    dated = arrow(columns()).append_column("day", pa.array([1] * 24, pa.date32()))
    for table, said in (
        (nested, 'column "list" is of type list'),
        (dated, 'column "day" is of type date32'),
        (arrow(columns()).slice(0, 0), "has no rows"),
        (arrow(columns()).drop_columns(["income"]), 'no column "income"'),
    ):
        with pytest.raises(ScenarioError, match=said):
            read_parquet(tmp_path, table)
    whole = read_parquet(tmp_path)
    content = (tmp_path / "people.parquet").read_bytes()
    path = world("parquet", tmp_path)
    for cut in (0, 3, 9, len(content) // 2, len(content) - 5):
        (tmp_path / "people.parquet").write_bytes(content[:cut])
        assert "cannot be read as Parquet" in check(path).problems[0]
    rng = np.random.Generator(np.random.PCG64(5))
    for _ in range(40):
        spoiled = bytearray(content)
        spoiled[int(rng.integers(len(content)))] = int(rng.integers(256))
        (tmp_path / "people.parquet").write_bytes(spoiled)
        found = check(path)  # a problem of the data or a plan, and no traceback
        assert found.ok or ": data: " in found.problems[0]
    (tmp_path / "people.parquet").write_bytes(content)
    assert same(whole, make_plan(path).shards)


def test_a_parquet_file_that_says_how_large_it_is_is_refused_unread(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A hundred thousand equal numbers take a few bytes in the file, and its metadata say how many there are."""
    monkeypatch.setattr("scenarios.planning.context.MOST_BYTES", 100_000)
    table = arrow({"x": [0.0] * 100_000, "income": [1] * 100_000})
    with pytest.raises(ScenarioError, match="100,000 × 2 numbers"):
        read_parquet(tmp_path, table)
    assert (tmp_path / "people.parquet").stat().st_size < 10_000


def test_without_pyarrow_one_sentence_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "people.parquet").write_bytes(b"PAR1")
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    problem = check(world("parquet", tmp_path)).problems[0]
    assert "pip install 'hush-sim[parquet]'" in problem


def test_a_file_is_read_once_for_several_plans_and_again_when_it_changed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    read = list[Path]()

    def counted(path: Path, *more: Any, **named: Any) -> Any:
        read.append(path)
        return read_delimited(path, *more, **named)

    monkeypatch.setattr("scenarios.planning.data_sources.csv.read_delimited", counted)
    first = read_csv(tmp_path)
    path = tmp_path / "w.toml"
    assert same(first, make_plan(path).shards)
    assert sum(make_plan(path, seed=5, set={"data.split": "shards"}).shards.sizes) == 18
    assert len(read) == 1
    assert make_plan(path, set={"data.bias": True}).dimension == first.dimension + 1
    (tmp_path / "people.csv").write_text(text().replace("20,", "21,"))
    assert not same(first, make_plan(path).shards)
    assert len(read) == 3


def test_one_mistyped_number_makes_no_categories(tmp_path: Path) -> None:
    content = "a,y\n" + "".join(f"{i / 100},{i % 2}\n" for i in range(40)) + "?134,1\n"
    wanted = r"a is a word, .\?134., and 40 of 41 cells of the column are numbers: mend it"
    with pytest.raises(ScenarioError, match=wanted):
        read_csv(tmp_path, content, label="y")
    half = "a,y\n" + "".join(f"{w},{i % 2}\n" for i, w in enumerate(("1", "one") * 20))
    assert read_csv(tmp_path, half, label="y").dimension == 2
    assert read_csv(tmp_path, content, label="y", categorical=["a"]).dimension == 41
