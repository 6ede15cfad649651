"""Published data sets: what their loaders make of files, as published and small ones, and what they refuse."""

import gzip
import hashlib
import os
import re
import tomllib
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from scenarios.api.runs import run_sync
from scenarios.language.problems import ScenarioError
from scenarios.language.writer import to_toml
from scenarios.planning import kept_pools
from scenarios.planning.columns import Categorical, Frequency, Numeric
from scenarios.planning.data_sources import SOURCES, SourceInputs
from scenarios.planning.data_sources.creditcard import subset
from scenarios.planning.datasets import Demands, Shards, dealt, tidy
from scenarios.planning.files import BadData, Folders
from scenarios.planning.published import PublishedFile, PublishedSet, states
from scenarios.planning.splits import NoSplit
from tests.support.builders import scenario
from tests.support.marks import one_in
from tests.support.paths import PUBLISHED, needs_data
from tests.support.small_sets import NAMED, named_table, pool_of, small_set


def known(name: str) -> PublishedSet:
    """Return what is known of a set."""
    published = SOURCES[name].published
    assert published is not None
    return published


def shards(name: str, folders: Folders, agents: int = 3, seed: int = 0, **keys: Any) -> Shards:
    """Deal a set to agents."""
    table = named_table(name, **keys)
    return tidy(table.build(SourceInputs(agents, seed, folders)), Demands(True, table.scale, "x"))


def every_row(shared: Shards) -> tuple[Any, Any]:
    """Return all training and test points."""
    parts = [*shared.train, *([] if shared.common_test is None else [shared.common_test])]
    return np.concatenate([x for x, _ in parts]), np.concatenate([y for _, y in parts])


@pytest.mark.parametrize("name", NAMED)
def test_features_tell_the_rows_of_the_file(name: str, tmp_path: Path) -> None:
    small = small_set(name)
    small.write(tmp_path)
    layout, pool, at = named_table(name).layout(), pool_of(name, tmp_path, bias=True), 0
    for column in layout.columns:
        written = [row[column.name] for row in small.rows]
        part = pool.x[:, at : at + len(column.features)]
        at += len(column.features)
        if isinstance(column, Categorical):
            assert part.sum(axis=1).tolist() == [1.0] * len(small.rows)
            assert [column.categories[k] for k in part.argmax(axis=1)] == written
            assert pool.columns[column.name].tolist() == written
        else:
            assert isinstance(column, Numeric)
            assert np.allclose(part[:, 0] * column.maximum, [float(v) for v in written], rtol=1e-14)
            assert pool.columns[column.name].tolist() == [float(v) for v in written]
    assert pool.x[:, at:].tolist() == [[1.0]] * len(small.rows)
    assert pool.y.tolist() == [layout.labels[row[layout.label]] for row in small.rows]
    assert at == known(name).features
    assert pool.uncovered == ()


@pytest.mark.parametrize("name", NAMED)
def test_every_row_is_scaled_to_norm_at_most_one_with_its_bias(name: str, tmp_path: Path) -> None:
    small_set(name).write(tmp_path)
    raw = pool_of(name, tmp_path, bias=True)
    shared = shards(name, Folders(tmp_path), checksum="any", bias=True, points=40, test=0.25)
    x, y = every_row(shared)
    norms = np.linalg.norm(raw.x, axis=1)
    assert (np.linalg.norm(x, axis=1) <= 1 + 1e-12).all()
    assert sorted(x[:, -1]) == pytest.approx(sorted(1 / np.maximum(norms, 1.0)), rel=1e-14)
    assert Counter(y.tolist()) == Counter(raw.y.tolist())
    assert shared.common_test is not None
    assert len(shared.common_test[1]) == 10
    with pytest.raises(BadData, match='scale = "row"'):
        shards(name, Folders(tmp_path), checksum="any", points=40, bias=True, scale="refuse")


@pytest.mark.parametrize("name", NAMED)
def test_one_record_replaced_changes_one_point_of_the_pool(name: str, tmp_path: Path) -> None:
    """The transformation is fixed: nothing is computed from other rows, also where a value is larger than any before."""
    small = small_set(name)
    small.write(tmp_path / "a")
    layout = named_table(name).layout()
    large = {c.name: repr(10.0 * c.maximum) for c in layout.columns if isinstance(c, Numeric)}
    small.write(tmp_path / "b", [small.rows[0] | large, *small.rows[1:]])
    one, two = pool_of(name, tmp_path / "a"), pool_of(name, tmp_path / "b")
    assert (one.x != two.x).any(axis=1).tolist() == [True] + [False] * 39
    assert np.array_equal(one.y, two.y)
    assert "above the published maximum" in " ".join(two.notes)
    assert "above the published maximum" not in " ".join(one.notes)


@pytest.mark.parametrize("name", NAMED)
def test_rows_in_another_order_give_the_same_points_in_that_order(
    name: str, tmp_path: Path
) -> None:
    small, order = small_set(name), np.random.default_rng(1).permutation(40)
    small.write(tmp_path / "a")
    small.write(tmp_path / "b", [small.rows[i] for i in order.tolist()])
    one, two = pool_of(name, tmp_path / "a"), pool_of(name, tmp_path / "b")
    assert np.array_equal(one.x[order], two.x)
    assert np.array_equal(one.y[order], two.y)


@pytest.mark.parametrize("name", NAMED)
def test_points_are_drawn_by_the_seed_and_from_the_whole_set(name: str, tmp_path: Path) -> None:
    small_set(name).write(tmp_path)
    folders = Folders(tmp_path)
    keys: dict[str, Any] = {"checksum": "any", "points": 10, "test": 0.5}
    first = every_row(shards(name, folders, **keys))
    again = every_row(shards(name, folders, **keys))
    other = every_row(shards(name, folders, **keys, seed=1))
    assert np.array_equal(first[0], again[0])
    assert np.array_equal(first[1], again[1])
    assert len(other[1]) == 10
    assert not np.array_equal(first[0], other[0])
    whole = every_row(shards(name, folders, **(keys | {"points": 40})))
    assert {row.tobytes() for row in first[0]} <= {row.tobytes() for row in whole[0]}
    with pytest.raises(NoSplit, match="there are 40 points, and points = 41 asks more"):
        shards(name, folders, **(keys | {"points": 41}))


@pytest.mark.parametrize("name", NAMED)
def test_rows_drawn_before_they_are_read_are_those_drawn_afterwards(
    name: str, tmp_path: Path
) -> None:
    small_set(name).write(tmp_path)
    folders = Folders(tmp_path)
    keys: dict[str, Any] = {"checksum": "any", "points": 10, "test": 0.5}
    early = every_row(shards(name, folders, **keys))
    whole = pool_of(name, tmp_path)
    late = dealt(named_table(name, **keys), whole, SourceInputs(3, 0, folders))
    late_rows = every_row(tidy(late, Demands(True, "row", "x")))
    assert np.array_equal(early[0], late_rows[0])
    assert np.array_equal(early[1], late_rows[1])


@pytest.mark.parametrize("name", NAMED)
def test_a_compressed_file_and_another_folder_change_nothing(name: str, tmp_path: Path) -> None:
    small = small_set(name)
    small.write(tmp_path)
    plain = pool_of(name, tmp_path)
    elsewhere = tmp_path / "named" / "deep"
    elsewhere.mkdir(parents=True)
    for path in small.write(tmp_path):
        (elsewhere / f"{path.name}.gz").write_bytes(gzip.compress(path.read_bytes()))
    packed = pool_of(name, tmp_path, path="named/deep")
    assert np.array_equal(plain.x, packed.x)
    assert np.array_equal(plain.y, packed.y)


@pytest.mark.parametrize("name", [n for n in NAMED if named_table(n).layout().missing])
def test_rows_with_a_missing_value_are_left_out_and_counted(name: str, tmp_path: Path) -> None:
    small = small_set(name)
    layout = named_table(name).layout()
    rows = [
        row | ({column.name: layout.missing} if i < 2 * len(layout.columns) and i % 2 else {})
        for i, (row, column) in enumerate(zip(small.rows, layout.columns * 9, strict=False))
    ]
    small.write(tmp_path, rows)
    kept = [i for i, row in enumerate(rows) if layout.missing not in row.values()]
    assert 0 < len(kept) < 40
    small.write(tmp_path / "kept", [rows[i] for i in kept])
    pool = pool_of(name, tmp_path)
    assert np.array_equal(pool.x, pool_of(name, tmp_path / "kept").x)
    assert f"{40 - len(kept)} of 40 rows have a missing value" in " ".join(pool.notes)
    small.write(tmp_path, [row | {layout.columns[0].name: layout.missing} for row in rows])
    with pytest.raises(BadData, match="every row has a missing value"):
        pool_of(name, tmp_path)


def test_an_unknown_value_of_breast_cancer_is_zero_or_its_row_is_left_out(tmp_path: Path) -> None:
    small = small_set("breast-cancer", 3)
    small.write(tmp_path, [small.rows[0] | {"bare-nuclei": "?"}, *small.rows[1:]])
    assert pool_of("breast-cancer", tmp_path).x[:, 5].tolist()[0] == 0.0
    assert len(pool_of("breast-cancer", tmp_path, missing="drop")) == 2


def test_countries_by_frequency_are_one_feature_between_0_and_1(tmp_path: Path) -> None:
    small = small_set("adult")
    small.write(tmp_path)
    (column,) = (
        column
        for column in named_table("adult", native_country="frequency").layout().columns
        if isinstance(column, Frequency)
    )
    assert sum(column.counts) == 45_222
    share = dict(zip(column.categories, np.array(column.counts) / 41_292, strict=True))
    pool = pool_of("adult", tmp_path, native_country="frequency")
    assert pool.x.shape[1] == 104 - 41 + 1
    assert pool.x[:, -1].tolist() == [share[row["native-country"]] for row in small.rows]


def test_the_training_file_of_adult_alone_is_the_first_part_of_both(tmp_path: Path) -> None:
    small_set("adult").write(tmp_path)
    both, train = pool_of("adult", tmp_path), pool_of("adult", tmp_path, files="train")
    assert np.array_equal(both.x[:20], train.x)


def test_a_subset_of_credit_cards_is_taken_of_the_complete_file(tmp_path: Path) -> None:
    """All frauds, and the first of the others in NumPy's permutation of seed 0, in the order of the file."""
    small = small_set("creditcard", 60, seed=3)
    complete = small.text(small.rows).encode()
    labels = np.array([int(row["Class"]) for row in small.rows])
    drawn = np.random.default_rng(0).permutation(np.flatnonzero(labels == 0))[:7]
    rows = sorted([*np.flatnonzero(labels == 1).tolist(), *drawn.tolist()])
    assert subset(complete, 7) == small.text([small.rows[i] for i in rows]).encode()
    assert subset(complete.replace(b"\n", b"\r\n"), 7) == subset(complete, 7)
    (tmp_path / "creditcard").mkdir()
    (tmp_path / "creditcard" / "creditcard.csv").write_bytes(complete)
    balanced = pool_of("creditcard", tmp_path)
    assert len(balanced) == 60  # it has fewer others than 492
    assert np.array_equal(balanced.x, pool_of("creditcard", tmp_path, file="complete").x)


@pytest.mark.parametrize("name", NAMED)
def test_a_pool_is_read_once_and_again_when_its_file_has_changed(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kept_pools, "_pools", {})
    small = small_set(name)
    paths = small.write(tmp_path)
    first = pool_of(name, tmp_path)
    assert pool_of(name, tmp_path) is first
    assert pool_of(name, tmp_path, bias=True) is not first
    with pytest.raises(ValueError, match="read-only"):
        first.x[0, 0] = 5.0
    small.write(tmp_path, small.rows[::-1])
    for path in paths:
        os.utime(path, ns=(1, 1))
    assert np.array_equal(pool_of(name, tmp_path).x, first.x[::-1])
    for count in (5, 6, 7):
        small.write(tmp_path / str(count), small.rows[:count])
        pool_of(name, tmp_path / str(count))
    assert len(kept_pools._pools) == 2


@pytest.mark.parametrize("name", NAMED)
def test_memory_is_limited_before_points_are_made(name: str, tmp_path: Path) -> None:
    small = small_set(name)
    paths = small.write(tmp_path)
    table = named_table(name, points=10_000, test=0.25, bias=True)
    assert table.amount(3) == (7_500, 2_500, known(name).features + 1)
    size = sum(path.stat().st_size for path in paths)
    for most in (size / 4, size + 20 * 64, 40 * known(name).features * 8 - 1):
        with pytest.raises(BadData, match="--allow-large"):
            pool_of(name, tmp_path, most=most)


Spoil = Callable[[Path], None]


def _text(change: Callable[[str], str]) -> Spoil:
    return lambda path: _write(path, change(path.read_text()).encode())


def _bytes(change: Callable[[bytes], bytes]) -> Spoil:
    return lambda path: _write(path, change(path.read_bytes()))


def _write(path: Path, content: bytes) -> None:
    path.write_bytes(content)


def _last_line(change: Callable[[str], str]) -> Spoil:
    def spoil(text: str) -> str:
        *lines, last = text.splitlines()
        return "\n".join([*lines, change(last)]) + "\n"

    return _text(spoil)


def _link_out(path: Path) -> None:
    outside = path.parents[2] / "outside"
    outside.write_bytes(path.read_bytes())
    path.unlink()
    path.symlink_to(outside)


def _folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


def _pipe(path: Path) -> None:
    path.unlink()
    os.mkfifo(path)


HOSTILE: dict[str, Spoil] = {
    "empty": _bytes(lambda _: b""),
    "blank lines": _bytes(lambda _: b"\n \n\r\n"),
    "a NUL byte": _bytes(lambda text: text[:-5] + b"\0" + text[-5:]),
    "noise": _bytes(lambda _: bytes(range(1, 256)) * 20),
    "UTF-16": _bytes(lambda text: text.decode().encode("utf-16")),
    "not UTF-8": _bytes(lambda text: text[:-2] + b"\xe9\n"),
    "a short row": _last_line(lambda line: line[: len(line) // 2]),
    "a long row": _last_line(lambda line: line + line[-2:] * 3 + ",;" * 3),
    "no values": _last_line(lambda line: "".join(c for c in line if c in ",;")),
    "not a number": _last_line(lambda line: "".join("x" if c in "0123456789" else c for c in line)),
    "an infinite number": _last_line(lambda line: re.sub(r"[0-9]+\.[0-9]+", "9e999", line)),
    "an open quote": _last_line(lambda line: '"' + line),
    "a huge value": _last_line(lambda line: "9" * 200_000 + line),
    "another header": _text(lambda text: "zzz" + text[text.index("\n") :]),
    "a page": _bytes(lambda _: b"<html><body>not found</body></html>\n" * 3),
    "a bomb": _bytes(lambda _: gzip.compress(b"0" * 20_000_000)),
    "damaged compression": _bytes(lambda text: gzip.compress(text)[:-9]),
    "a link that leads out": _link_out,
    "a folder": _folder,
    "a pipe": _pipe,
    "missing": lambda path: path.unlink(),
}


@pytest.mark.parametrize("spoilt", HOSTILE)
@pytest.mark.parametrize("name", NAMED)
def test_a_hostile_file_is_refused_in_one_sentence(name: str, spoilt: str, tmp_path: Path) -> None:
    small = small_set(name, 6)
    path = small.write(tmp_path / "in")[-1]
    HOSTILE[spoilt](path)
    for checksum in ("any", "published"):
        with pytest.raises(BadData) as refused:
            pool_of(name, tmp_path / "in", most=4_000_000, checksum=checksum)
        said = str(refused.value)
        assert len(said) < 1500
        if spoilt != "a link that leads out":
            assert path.name in said or path.parent.name in said
        assert "\n" not in said


@pytest.mark.parametrize("name", NAMED)
def test_an_unknown_word_is_named_with_the_nearest(name: str, tmp_path: Path) -> None:
    small = small_set(name, 6)
    layout = named_table(name).layout()
    named = [c for c in layout.columns if isinstance(c, Categorical)]
    words = [(c.name, c.categories[0]) for c in named] + [(layout.label, next(iter(layout.labels)))]
    for column, word in words:
        small.write(tmp_path, [*small.rows[:-1], small.rows[-1] | {column: f"{word}~"}])
        with pytest.raises(BadData) as refused:
            pool_of(name, tmp_path)
        assert f'{column} has no category "{word}~"; ' in str(refused.value)
        assert word in str(refused.value)
        assert "line " in str(refused.value)


@pytest.mark.parametrize("name", NAMED)
def test_a_missing_set_is_told_where_to_get(name: str, tmp_path: Path) -> None:
    with pytest.raises(BadData) as refused:
        pool_of(name, tmp_path, path="elsewhere")
    said = str(refused.value)
    assert said.startswith("no such file: elsewhere/")
    assert all(file.name in said for file in known(name).files)
    assert known(name).published in said
    assert "a folder 'elsewhere'" in said


@pytest.mark.parametrize("path", ["../adult", "/etc", "a/../.."])
def test_a_folder_outside_is_refused(path: str, tmp_path: Path) -> None:
    with pytest.raises(BadData, match="must stay in the scenario's folder"):
        pool_of("adult", tmp_path, path=path)


def _file(content: bytes) -> PublishedFile:

    ordered = hashlib.sha256(b"\n".join(sorted(content.splitlines()))).hexdigest()
    whole = hashlib.sha256(content).hexdigest()
    return PublishedFile("f", len(content), content.count(b"\n"), 3, whole, ordered)


LINES = b"3,c\r\n1,a\r\n2,b\r\n"


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (LINES, ""),
        (b"3,c\n1,a\n2,b\n", "it has the published lines, and other line ends"),
        (b"1,a\r\n2,b\r\n3,c\r\n", "it has the published lines in another order"),
        (b"1,a\n2,b\n3,c\n", "it has the published lines in another order"),
        (LINES[:-3], "it is shorter: 12 of 15 bytes"),
        (b"", "it is shorter: 0 of 15 bytes"),
        (LINES + b"4,d\r\n", "it is longer than the published 15 bytes"),
        (LINES.replace(b"b", b"x"), "it is another file of the same length"),
    ],
)
def test_a_difference_from_the_published_file_is_named(content: bytes, said: str) -> None:
    assert _file(LINES).difference(content) == said


@pytest.mark.parametrize("last", [b"", b"\n"])
def test_other_line_ends_are_named_with_and_without_one_at_the_end(last: bytes) -> None:
    file = _file(b"2,b\n1,a" + last)
    assert "other line ends" in file.difference(b"2,b\r\n1,a\r\n")
    assert "another order" in file.difference(b"1,a\r\n2,b\r\n")


@pytest.mark.parametrize("name", NAMED)
def test_the_record_of_a_set_agrees_with_its_layout(name: str) -> None:
    published, table = known(name), named_table(name)
    layout = table.layout()
    assert len(layout.features) == len(set(layout.features)) == published.features
    assert set(layout.labels.values()) == {-1.0, 1.0}
    assert set(table.chosen()) <= set(published.files)
    assert table.scale == "row"
    for column in layout.columns:
        assert not isinstance(column, Numeric) or column.maximum > 0


SHAPES = {
    "adult": (45_222, 105),
    "bank": (41_188, 64),
    "kddcup99": (70_000, 119),
    "breast-cancer": (699, 10),
    "creditcard": (984, 31),
}
"""Points and features that a scenario has by default, with a bias."""
WHOLE: dict[str, tuple[dict[str, Any], dict[float, int]]] = {
    "adult": ({}, {-1.0: 34_014, 1.0: 11_208}),
    "bank": ({}, {-1.0: 36_548, 1.0: 4_640}),
    "kddcup99": ({"points": 494_021}, {-1.0: 97_278, 1.0: 396_743}),
    "breast-cancer": ({}, {-1.0: 458, 1.0: 241}),
    "creditcard": ({"file": "5000"}, {-1.0: 5_000, 1.0: 492}),
}
"""How the whole of a published set is asked for, and how many points have each label."""
REAL = [
    pytest.param(
        name,
        marks=[
            *(
                needs_data(
                    f"{known(name).folder}/{found.path.name if found.path else found.file.name}"
                )
                for found in states(known(name), Folders(PUBLISHED))
                if found.file in named_table(name).chosen()
            ),
            pytest.mark.slow,
        ],
    )
    for name in NAMED
]


@pytest.mark.parametrize("name", REAL)
def test_a_published_set_has_the_points_and_features_of_the_papers(name: str) -> None:
    x, y = every_row(shards(name, Folders(PUBLISHED), bias=True))
    assert x.shape == SHAPES[name]
    assert set(y.tolist()) == {-1.0, 1.0}
    assert (np.linalg.norm(x, axis=1) <= 1 + 1e-12).all()


@pytest.mark.parametrize("name", REAL)
def test_constants_and_labels_are_those_of_the_published_files(name: str) -> None:
    """Every column reaches its maximum, and every category occurs; a credit card's in the larger subset."""
    keys, labels = WHOLE[name]
    table = named_table(name, **keys)
    pool = table.pool(SourceInputs(1, 0, Folders(PUBLISHED)))
    assert Counter(pool.y.tolist()) == labels
    largest, features = np.abs(pool.x).max(axis=0), table.layout().features
    never = {"num_outbound_cmds", "is_host_login"} if name == "kddcup99" else set()
    assert {f for f, m in zip(features, largest, strict=True) if m != 1.0} == never


@needs_data("adult/adult.data")
@pytest.mark.slow
def test_every_row_of_adult_has_norm_one() -> None:
    """Before they are scaled, rows with a bias have norms from 3.02 to 3.48."""
    raw = named_table("adult", bias=True).pool(SourceInputs(1, 0, Folders(PUBLISHED)))
    norms = np.linalg.norm(raw.x, axis=1)
    assert (round(norms.min(), 2), round(norms.max(), 2)) == (3.02, 3.48)
    x, _ = every_row(shards("adult", Folders(PUBLISHED), bias=True))
    assert np.allclose(np.linalg.norm(x, axis=1), 1.0, rtol=1e-12)


@needs_data("adult/adult.data")
def test_a_spoilt_published_file_is_named() -> None:
    (file, _) = known("adult").files
    content = (PUBLISHED / "adult" / "adult.data").read_bytes()
    lines = content.splitlines(keepends=True)
    assert file.difference(content) == ""
    assert "shorter: 3,974,304 of 3,974,305" in file.difference(content[:-1])
    assert "another order" in file.difference(b"".join([lines[1], lines[0], *lines[2:]]))
    assert "same length" in file.difference(content.replace(b"39", b"38", 1))
    assert "longer" in file.difference(content + lines[0])


@pytest.mark.parametrize("named", [False, True])
@pytest.mark.parametrize("name", one_in(5, NAMED))
def test_a_resolved_scenario_reads_its_data_again_only_unchanged(
    name: str,
    named: bool,  # noqa: FBT001
    tmp_path: Path,
) -> None:
    """Files count wherever they lie: beside the scenario, or in a folder that is named."""
    (tmp_path / "w").mkdir()
    home = tmp_path / "elsewhere" if named else tmp_path / "w"
    folders = [home] if named else []
    paths = small_set(name).write(home)
    data = {"source": name, "checksum": "any", "points": 20, "bias": True}
    world = scenario(data=data, run={"seed": 1, "horizon": 1.0}, nodes=[{"count": 2}])
    (tmp_path / "w" / "x.toml").write_text(to_toml(world))
    first = run_sync(tmp_path / "w" / "x.toml", out=tmp_path / "r", folders=folders)
    listed = tomllib.loads((tmp_path / "r" / "resolved.toml").read_text())["origin"]["sha256"]
    files = [hashlib.sha256(path.read_bytes()).hexdigest() for path in paths]
    assert sorted(listed.values()) == sorted(files)
    assert sorted(listed) == sorted(path.relative_to(home).as_posix() for path in paths)
    again = run_sync(tmp_path / "r" / "resolved.toml", folders=folders)
    assert again.manifest["digests"] == first.manifest["digests"]
    small_set(name, seed=1).write(home)
    with pytest.raises(ScenarioError, match="has changed since the run"):
        run_sync(tmp_path / "r" / "resolved.toml", folders=folders)
