"""Themes: every style has a colour in each, every text can be read, and the terminal's background chooses."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.color import Color, ColorSystem

from scenarios.console.drawing.palette import (
    ANSI_COLORS,
    STYLE_NAMES,
    THEMES,
    WORDS,
    Theme,
    light_by_color,
    light_by_environment,
    luminance,
    theme_named,
)
from scenarios.console.drawing.styled_text import BAD, CUT, GOOD, HEATS, PICK, WARN
from scenarios.console.screens.screen import styles_of

DARK = ("#000000", "#1e1e1e", "#282c34", "#002b36", "#2e3440")
LIGHT = ("#ffffff", "#fdf6e3", "#eeeeee", "#fbf1c7")
"""Backgrounds that terminals have."""
_LEAST = 4.5


def parts(color: str) -> tuple[float, float, float]:
    code = ANSI_COLORS.get(color, color)
    red, green, blue = (int(code[at : at + 2], 16) / 255 for at in (1, 3, 5))
    return red, green, blue


def contrast(one: str, other: str) -> float:
    """The contrast of two colours, by the recommendation for readable text: 1 to 21."""
    low, high = sorted((luminance(*parts(one)), luminance(*parts(other))))
    return (high + 0.05) / (low + 0.05)


def backgrounds(theme: Theme) -> tuple[str, ...]:
    if theme.name.startswith(
        "ansi"
    ):  # the 16 colours are the terminal's: black or white stands for it
        return (theme.background,)
    return LIGHT if theme.is_light else DARK


def reduced(color: str) -> str:
    """The colour of a terminal with 256 colours."""
    if not color.startswith("#"):
        return color
    return Color.parse(color).downgrade(ColorSystem.EIGHT_BIT).get_truecolor().hex


@pytest.mark.parametrize("theme", THEMES.values(), ids=lambda theme: theme.name)
@pytest.mark.parametrize("style", STYLE_NAMES)
def test_every_text_can_be_read(theme: Theme, style: str) -> None:
    ink = theme.inks[style]
    behind = (ink.back,) if ink.back else (*backgrounds(theme), theme.background)
    for back in behind:
        assert contrast(ink.color, back) >= _LEAST, back
        assert contrast(reduced(ink.color), reduced(back) if ink.back else back) >= _LEAST, back


@pytest.mark.parametrize("theme", THEMES.values(), ids=lambda theme: theme.name)
def test_every_style_has_an_ink_and_a_style_of_the_screen(theme: Theme) -> None:
    assert set(theme.inks) == set(STYLE_NAMES) == set(styles_of(theme))
    distinct = {theme.inks[style].color for style in (GOOD, WARN, BAD)}
    assert len(distinct) == 3  # also with 16 colours
    assert theme.inks[CUT] != theme.inks[BAD]
    assert theme.inks[PICK].back


@pytest.mark.parametrize("name", ["dark", "light"])
def test_a_scale_of_colours_goes_one_way(name: str) -> None:
    """From least to most, luminance rises on a dark background and falls on a light one: no hue is needed to read it."""
    values = [luminance(*parts(THEMES[name].inks[heat].color)) for heat in HEATS]
    assert values == sorted(values, reverse=THEMES[name].is_light)
    assert len(set(values)) == len(values)


def test_the_contrast_of_black_on_white_is_21() -> None:
    assert contrast("#000000", "#ffffff") == pytest.approx(21.0)
    assert contrast("#777777", "#ffffff") == pytest.approx(
        4.48, abs=0.01
    )  # known from the recommendation


@given(st.booleans() | st.none(), st.booleans())
def test_a_theme_is_chosen_by_word_then_by_background(light: bool | None, few: bool) -> None:  # noqa: FBT001
    found = {word: theme_named(word, light=light, few_colors=few).name for word in WORDS}
    assert found["dark"] == "dark"
    assert found["light"] == "light"
    assert found["ansi"] == ("ansi-light" if light else "ansi")
    assert found["auto"] == (found["ansi"] if few else "light" if light else "dark")


def test_a_word_that_is_no_theme_is_an_error() -> None:
    with pytest.raises(KeyError):
        theme_named("sepia", light=None, few_colors=False)


@pytest.mark.parametrize(
    ("value", "light"),
    [
        ("15;0", False),
        ("0;15", True),
        ("0;7", True),
        ("7;8", False),
        ("0;default;15", True),
        ("", None),
        ("x", None),
        ("0;99", None),
    ],
)
def test_an_environment_tells_the_background(
    monkeypatch: pytest.MonkeyPatch,
    value: str,
    light: bool | None,  # noqa: FBT001
) -> None:
    monkeypatch.setenv("COLORFGBG", value)
    assert light_by_environment() is light


def test_backgrounds_of_terminals_are_told_apart() -> None:
    assert not any(light_by_color(*parts(color)) for color in DARK)
    assert all(light_by_color(*parts(color)) for color in LIGHT)
