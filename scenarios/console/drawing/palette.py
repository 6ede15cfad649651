"""Themes: which colours a style has, on a dark background, on a light one, and with 16 colours.

A new theme is a record here. A style that a theme does not give is an error.
"""

import os
from collections.abc import Mapping
from dataclasses import dataclass

from scenarios.console.drawing.styled_text import (
    BAD,
    CUT,
    DIM,
    GOOD,
    HAND,
    HEAD,
    HEATS,
    PICK,
    PLAIN,
    WARN,
)

AUTO = "auto"
"""The word that asks the terminal."""
WORDS = (AUTO, "dark", "light", "ansi")
"""What `--theme` may be."""
STYLE_NAMES = (PLAIN, GOOD, WARN, BAD, DIM, HEAD, PICK, HAND, CUT, *HEATS)


@dataclass(frozen=True, slots=True)
class Ink:
    """How a text of one style is written."""

    color: str
    """`#rrggbb`, or a name of one of the 16 colours of a terminal."""
    bold: bool = False
    back: str = ""
    """The colour behind the text; empty: that of the terminal."""


@dataclass(frozen=True, slots=True)
class Theme:
    """A colour for every style."""

    name: str
    inks: Mapping[str, Ink]
    background: str
    """The background of a picture, and the one that contrast is measured against first."""
    is_light: bool = False


def _inks(heats: tuple[str, ...], **colors: Ink) -> dict[str, Ink]:
    """Return an ink for every style; raise ValueError where one is missing or unknown."""
    inks = {**colors, **dict(zip(HEATS, map(Ink, heats), strict=True))}
    if set(inks) != set(STYLE_NAMES):
        raise ValueError(f"a theme gives {sorted(inks)} for {sorted(STYLE_NAMES)}")
    return inks


_DARK = Theme(
    "dark",
    _inks(
        (
            "#7f9cf5",
            "#6fb0f0",
            "#63c3e0",
            "#63d0c0",
            "#7fd99a",
            "#a6e070",
            "#cfe04e",
            "#f0e03c",
            "#fff27a",
        ),
        plain=Ink("#d6d6d6"),
        good=Ink("#56b4e9"),
        warn=Ink("#f0e442"),
        bad=Ink("#ff7a45", bold=True),
        dim=Ink("#a0a0a0"),
        head=Ink("#ffffff", bold=True),
        pick=Ink("#101010", back="#d6d6d6"),
        hand=Ink("#e59ac4"),
        cut=Ink("#e69f00"),
    ),
    "#161616",
)
_LIGHT = Theme(
    "light",
    _inks(
        (
            "#2f6fb0",
            "#2a66a8",
            "#2a5c9c",
            "#2f528c",
            "#36477a",
            "#3c3b66",
            "#3e2f52",
            "#3a223c",
            "#301426",
        ),
        plain=Ink("#303030"),
        good=Ink("#00578a"),
        warn=Ink("#7a5200"),
        bad=Ink("#af0000", bold=True),
        dim=Ink("#5a5a5a"),
        head=Ink("#000000", bold=True),
        pick=Ink("#ffffff", back="#303030"),
        hand=Ink("#8a2f68"),
        cut=Ink("#8f4700"),
    ),
    "#ffffff",
    is_light=True,
)
_ANSI = Theme(
    "ansi",
    _inks(
        ("bright_blue",) * 2
        + ("cyan",) * 2
        + ("bright_cyan",) * 2
        + ("bright_green",)
        + ("bright_yellow",) * 2,
        plain=Ink("white"),
        good=Ink("bright_cyan"),
        warn=Ink("bright_yellow"),
        bad=Ink("bright_red", bold=True),
        dim=Ink("white"),
        head=Ink("bright_white", bold=True),
        pick=Ink("black", back="white"),
        hand=Ink("bright_magenta"),
        cut=Ink("yellow"),
    ),
    "#000000",
)
_ANSI_LIGHT = Theme(
    "ansi-light",
    _inks(
        ("blue",) * 5 + ("black",) * 4,
        plain=Ink("black"),
        good=Ink("blue"),
        warn=Ink("magenta"),
        bad=Ink("red", bold=True),
        dim=Ink("black"),
        head=Ink("black", bold=True),
        pick=Ink("bright_white", back="black"),
        hand=Ink("magenta", bold=True),
        cut=Ink("magenta"),
    ),
    "#ffffff",
    is_light=True,
)
THEMES = {theme.name: theme for theme in (_DARK, _LIGHT, _ANSI, _ANSI_LIGHT)}
ANSI_COLORS = {
    "black": "#000000",
    "red": "#cd0000",
    "green": "#00cd00",
    "yellow": "#cdcd00",
    "blue": "#0000ee",
    "magenta": "#b000b0",
    "cyan": "#00cdcd",
    "white": "#e5e5e5",
    "bright_black": "#7f7f7f",
    "bright_red": "#ff5555",
    "bright_green": "#00ff00",
    "bright_yellow": "#ffff00",
    "bright_blue": "#7c7cff",
    "bright_magenta": "#ff55ff",
    "bright_cyan": "#00ffff",
    "bright_white": "#ffffff",
}
"""How pictures draw the 16 colours: those of common terminals. A terminal may show others."""


def theme_named(word: str, *, light: bool | None, few_colors: bool) -> Theme:
    """Return the theme for a word of `--theme`.

    `light` is what is known of the background; None where nothing is, which means dark. `few_colors` says that the
    terminal has 16 colours at most. Raises KeyError for a word that is no theme.
    """
    if word == AUTO:
        word = "ansi" if few_colors else "light" if light else "dark"
    if word == "ansi":
        word = "ansi-light" if light else "ansi"
    return THEMES[word]


def light_by_environment() -> bool | None:
    """Return whether `COLORFGBG` names a light background; None where it says nothing."""
    last = os.environ.get("COLORFGBG", "").rpartition(";")[2]
    if not last.isdecimal() or int(last) > 15:
        return None
    return int(last) in {7, *range(9, 16)}


def light_by_color(red: float, green: float, blue: float) -> bool:
    """Return whether a background is light, by its luminance; each part lies between 0 and 1."""
    return luminance(red, green, blue) > 0.2


def luminance(red: float, green: float, blue: float) -> float:
    """Return the relative luminance of a colour of sRGB; each part lies between 0 and 1."""
    linear = [
        c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in (red, green, blue)
    ]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
