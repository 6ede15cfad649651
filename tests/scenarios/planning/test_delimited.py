"""Delimited text: every value comes back as it was written, and what is no such text is refused with its line."""

import csv
import gzip
import io
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scenarios.planning.columns import Categorical, Numeric, encode, joined
from scenarios.planning.delimited import DelimitedText, Format, TextTable, content, read_delimited
from scenarios.planning.files import BadData

AB = Format(names=("a", "b"))
cells = st.text(st.characters(codec="utf-8", exclude_characters="\0\r"), min_size=1, max_size=5)


def table(text: str | bytes, how: Format = AB) -> TextTable:
    """Read a text."""
    return DelimitedText("t.csv", text.encode() if isinstance(text, str) else text, how).read()


@given(st.lists(st.tuples(cells, cells), min_size=1, max_size=10), st.sampled_from(",;\t|"))
def test_what_is_written_by_the_rules_of_csv_is_read_back(
    rows: list[tuple[str, str]], separator: str
) -> None:
    written = io.StringIO()
    csv.writer(written, delimiter=separator, quoting=csv.QUOTE_ALL).writerows([("a", "b"), *rows])
    read = table(written.getvalue(), Format(separator))
    assert list(zip(*read.columns.values(), strict=True)) == rows


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("last", ["", "{}", "{}{}", "{}  {}"])
def test_line_ends_and_a_blank_last_line_change_nothing(end: str, last: str) -> None:
    text = end.join(["a,b", "1,2", "3,4"]) + last.format(end, end)
    read = table(text, Format())
    assert dict(read.columns) == {"a": ("1", "3"), "b": ("2", "4")}
    assert list(read.lines) == [2, 3]


def test_a_row_is_named_by_the_line_where_it_begins() -> None:
    read = table('1,"x\ny"\n|a comment\n\n2,z\n', Format(names=("a", "b"), comment="|"))
    assert dict(read.columns) == {"a": ("1", "2"), "b": ("x\ny", "z")}
    assert list(read.lines) == [1, 5]


@given(st.lists(st.integers(0, 19), max_size=30))
def test_chosen_rows_are_those_of_the_whole_table(chosen: list[int]) -> None:
    for quote in ("", '"'):
        text = "".join(f"{quote}{i}{quote},{i * i}\n" for i in range(20)).encode()
        whole = DelimitedText("t.csv", text, AB)
        assert whole.read(chosen).columns["b"] == tuple(str(i * i) for i in chosen) or not chosen
        assert list(whole.read(chosen).lines) == [i + 1 for i in chosen]


def test_blocks_are_the_table_in_parts() -> None:
    text = "".join(f"{i},{i * i}\n" for i in range(20_000)).encode()
    whole = DelimitedText("t.csv", text, AB)
    parts = list(whole.blocks())
    assert len(parts) > 1
    assert [b for part in parts for b in part.columns["b"]] == list(whole.read().columns["b"])
    columns = (Numeric("a", 2.0), Numeric("b"))
    assert np.array_equal(
        joined(encode(part, columns) for part in parts).x, encode(whole.read(), columns).x
    )


REFUSED: dict[str, tuple[Any, Format, str]] = {
    "nothing": ("", AB, "t.csv has no rows"),
    "nothing at all": ("", Format(), "t.csv is empty: its first row must name the columns"),
    "a header only": ("a,b\n", Format(), "t.csv has no rows"),
    "too few values": ("1,2\n3\n", AB, "t.csv, line 2: expected 2 values, found 1"),
    "too many values": ("1,2\n\n3,4,5\n", AB, "t.csv, line 3: expected 2 values, found 3"),
    "another separator": ("1;2\n", AB, "t.csv, line 1: expected 2 values, found 1"),
    "a NUL byte": ("1,2\n3,\0\n", AB, "t.csv, line 2: a NUL byte, which no text has"),
    "UTF-16": ("1,2\n".encode("utf-16"), AB, "t.csv is UTF-16 text: write it as UTF-8"),
    "latin-1": ("1,2\n3,\xe9\n".encode("latin-1"), AB, "t.csv, line 2: no UTF-8 text"),
    "an open quote": ('1,"2\n3,4\n', AB, "t.csv, line 1: a quote is not closed"),
    "a broken quote": ('1,2\n3,"4"5""\n', AB, "line 2: a quote must enclose a whole value"),
    "half a quote": ('1,2"\n3,4"\n', AB, "line 1: "),
    "a long value": ("1," + "x" * 200_000, AB, "line 1: a value is longer than 131,072"),
    "a column twice": ("a,b,a\n1,2,3\n", Format(), 't.csv: the first row names column "a" twice'),
    "no name": ("a,\n1,2\n", Format(), "the first row must name every column, 2 has no name"),
    "many columns": ("a," * 100_001 + "\n1\n", Format(), "has 100,002 columns"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_is_no_such_text_is_refused_with_its_line(case: str) -> None:
    text, how, said = REFUSED[case]
    with pytest.raises(BadData) as refused:
        table(text, how)
    assert said in str(refused.value)
    assert len(str(refused.value)) < 300


def test_a_missing_column_is_refused_with_the_nearest_name() -> None:
    text = DelimitedText("t.csv", b"age,income\n1,2\n", Format())
    for ask in (lambda: text.require(["age", "incom"]), lambda: text.read().column("incom")):
        with pytest.raises(BadData, match=r'no column "incom"; did you mean .income.\?'):
            ask()


def test_a_compressed_file_holds_what_the_plain_one_does(tmp_path: Path) -> None:
    text = b"1,2\n3,4\n" * 1000
    (tmp_path / "plain.csv").write_bytes(text)
    (tmp_path / "packed.csv.gz").write_bytes(
        gzip.compress(text[:2000]) + gzip.compress(text[2000:])
    )
    read = [read_delimited(tmp_path / name, AB) for name in ("plain.csv", "packed.csv.gz")]
    assert read[0].columns == read[1].columns


def test_a_bomb_is_refused_before_it_is_unpacked(tmp_path: Path) -> None:
    bomb = tmp_path / "bomb.csv.gz"
    bomb.write_bytes(gzip.compress(b"1,2\n" * 1_000_000))
    assert bomb.stat().st_size < 20_000
    with pytest.raises(BadData, match=r"bomb.csv.gz would take at least .* needs --allow-large"):
        content(bomb, 100_000)
    assert len(content(bomb, 4_000_000)) == 4_000_000


def test_rows_of_text_are_limited_before_they_are_taken_apart() -> None:
    text = b"1,2\n" * 1000
    whole = DelimitedText("t.csv", text, AB, most=100_000)
    with pytest.raises(BadData, match="--allow-large"):
        whole.read()
    assert len(whole.read(range(500))) == 500
    with pytest.raises(BadData, match="--allow-large"):
        DelimitedText("t.csv", text, AB, most=10_000)


@pytest.mark.parametrize("at", [50, 500, -5])
def test_damaged_compressed_data_are_refused(at: int, tmp_path: Path) -> None:
    packed = gzip.compress("".join(f"{i},{i * i}\n" for i in range(1000)).encode())
    for bad in (packed[:at], packed[:at] + b"\xff\xff" + packed[at + 2 :]):
        file = tmp_path / "bad.csv.gz"
        file.write_bytes(bad)
        with pytest.raises(
            BadData, match=r"bad.csv.gz: its compressed data (end too early|are da)"
        ):
            read_delimited(file, AB)


numbers = st.floats(-1e6, 1e6)


@given(st.lists(st.tuples(numbers, st.sampled_from("uvw")), min_size=1), st.floats(0.1, 1e3))
def test_features_tell_the_values_that_they_were_made_of(
    rows: list[tuple[float, str]], maximum: float
) -> None:
    read = table("".join(f"{a!r},{b}\n" for a, b in rows))
    columns = (Categorical("b", ("w", "v", "u")), Numeric("a", maximum))
    x, features, values = encode(read, columns)
    assert features == ("b=w", "b=v", "b=u", "a")
    assert ["wvu"[one] for one in x[:, :3].argmax(axis=1)] == [b for _, b in rows]
    assert np.array_equal(x[:, :3].sum(axis=1), np.ones(len(rows)))
    assert np.allclose(x[:, 3] * maximum, [a for a, _ in rows], rtol=1e-15, atol=1e-300)
    assert values["a"].tolist() == [a for a, _ in rows]
    assert values["b"].tolist() == [b for _, b in rows]


@pytest.mark.parametrize("value", ["", "x", "nan", "inf", "-1e999", "1_000", "١", "1 2", "0x1"])
def test_what_is_no_finite_number_is_refused(value: str) -> None:
    with pytest.raises(BadData) as refused:
        encode(table(f"1,2\n{value},2\n"), [Numeric("a")])
    assert str(refused.value) == f't.csv, line 2: a must be a finite number, got "{value}"'


def test_an_unknown_category_is_refused_with_the_nearest() -> None:
    with pytest.raises(BadData) as refused:
        encode(table("1,Privat\n"), [Categorical("b", ("Private", "Self-emp"))])
    said = (
        "t.csv, line 1: b has no category \"Privat\"; did you mean 'Private'? (Private, Self-emp)"
    )
    assert str(refused.value) == said
