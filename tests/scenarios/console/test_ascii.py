"""ASCII says what Unicode says: every number is the same number, and no symbol reads as one."""

import math
import os
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from scenarios.console.drawing.layout import SCALES
from scenarios.console.drawing.model import Cohort
from scenarios.console.drawing.styled_text import STATES, STEPS, as_ascii, width_of
from scenarios.language.visible_text import CELLS, in_ascii
from tests.support.builders import perform, private
from tests.support.paths import ROOT
from tests.support.screens import HEADER, model, text

_NUMBER = re.compile(r"(?<![^\W\d_])(?:\d[\d,]*(?:\.\d+)?(?:e[-+]?\d+)?|∞|inf)(?![^\W\d_])")


def numbers(text: str) -> list[float]:
    """Every number of a text, ∞ too, in its order; ages such as 12ms without their unit."""
    text = re.sub(r"(?<=\d)(ms|s|h|d|k|M|G|x|×)(?![^\W\d_])", " ", text)
    return [float(n.replace("∞", "inf").replace(",", "")) for n in _NUMBER.findall(text)]


def test_no_substitute_is_a_digit_or_reads_as_a_number() -> None:
    for symbol, substitute in CELLS.items():
        assert len(substitute) == 1, symbol
        assert substitute.isascii(), symbol
        assert not substitute.isdigit(), symbol
    for code in range(0xA0, 0x2C00):
        substitute = in_ascii(chr(code))
        assert substitute.isascii()
        if not chr(code).isnumeric():
            assert not any(c.isdigit() for c in substitute), chr(code)
            assert (substitute in {"inf", "nan"}) == (chr(code) == "∞"), chr(code)
        else:  # a half is 1/2, the exponent 2 is ^2; others have none
            assert not substitute[0].isdigit() or chr(code) in "½¼¾"


def test_every_step_has_a_cell_of_its_own_which_is_no_state() -> None:
    cells = [CELLS[c] for c in STEPS]
    assert len(set(cells)) == len(STEPS)
    assert not set(cells) & {glyph for _, glyph, _ in STATES.values()}


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("ε    ∞/8    loss", "e  inf/8    loss"),  # to its left, as numbers stand in columns
        (
            "ε ∞ of ∞     loss  |",
            "e inf of inf loss  |",
        ),  # to its right, where the left has no room
        ("┌ ε ∞ ─────┐", "+ e inf ---+"),
        ("a  b ∞|", "a b ~  "[:4] + "in~"),  # there is no room: it is cut, as anything is
        ("   −∞|", " -inf|"),
    ],
)
def test_infinity_is_a_word_and_a_line_keeps_its_length(line: str, said: str) -> None:
    drawn = as_ascii([(line, "plain")])
    assert width_of(drawn) == len(line)
    if "~" not in said:
        assert "".join(t for t, _ in drawn) == said


@pytest.mark.parametrize(("width", "height"), [(60, 20), (80, 24), (100, 30), (120, 45)])
@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("count", [3, 30, 500])
def test_every_number_of_an_ascii_frame_is_that_of_the_unicode_frame(
    width: int, height: int, scale: str, count: int
) -> None:
    """An agent without a budget, without noise, and one with both: ε is 2, ∞ and ∞ of no cap."""
    found = model(count, scale)
    rows = [
        replace(r, epsilon=math.inf if i % 3 else 2.0, cap=None if i % 3 == 2 else 8.0)
        for i, r in enumerate(found.nodes.rows, start=1)
    ]
    nodes = replace(
        found.nodes,
        rows=rows,
        shares=[0.1, 0.5, 1.0] * (count // 3) + [0.0] * (count % 3),
        epsilon_worst=math.inf,
        epsilon_median=math.inf,
    )
    assert found.crowd is not None
    crowd = replace(
        found.crowd,
        quantiles=[("ε spent", [0, 1, 2, 3, math.inf, math.inf, math.inf])],
        cohorts=[Cohort("phones", 5, 4, math.inf, 0.5)],
        outliers=[("ε", [(1, "up", math.inf), (2, "up", math.inf)])],
    )
    header = replace(HEADER, privacy="eavesdropper view, δ = 1e-05, basic")
    shown = replace(found, nodes=nodes, crowd=crowd, header=header)
    unicode, ascii_ = text(shown, width, height), text(replace(shown, ascii=True), width, height)
    assert all(line.isascii() for line in ascii_)
    assert numbers("\n".join(ascii_)) == numbers("\n".join(unicode))
    assert math.inf in numbers("\n".join(ascii_)) or width < 80 or scale == "network"


@pytest.fixture(scope="module")
def naked(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run without noise: its ε is ∞."""
    mechanism = {"kind": "cd", "mu": 1.0}
    nodes = [{"name": "peers", "count": 6}]
    made = perform(private(mechanism=mechanism, nodes=nodes), tmp_path_factory.mktemp("runs"))
    return made.outcome.folder


def written(*words: str, encoding: str) -> str:
    """Return what the command writes to a terminal of some encoding."""
    return subprocess.run(
        [sys.executable, "-m", "scenarios", *words],
        cwd=ROOT,
        capture_output=True,
        check=True,
        encoding=encoding,
        env=os.environ | {"PYTHONIOENCODING": encoding},
    ).stdout


@pytest.mark.slow
@pytest.mark.parametrize(
    ("words", "encoding"),
    [
        (("show", "RUN", "--ascii"), "utf-8"),
        (("show", "RUN"), "ascii"),
        (("show", "RUN"), "latin-1"),
        (("replay", "RUN", "--ascii"), "utf-8"),
        (("replay", "RUN"), "latin-1"),
        (("show", "cd"), "ascii"),
    ],
)
def test_what_a_terminal_cannot_write_is_a_word_with_the_same_numbers(
    words: tuple[str, ...], encoding: str, naked: Path
) -> None:
    words = tuple(str(naked) if word == "RUN" else word for word in words)
    full = written(*(word for word in words if word != "--ascii"), encoding="utf-8")
    done = written(*words, encoding=encoding)
    assert done.isascii() or encoding == "latin-1"
    assert numbers(done) == numbers(full)
    assert math.inf in numbers(done) or str(naked) not in words
