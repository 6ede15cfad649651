"""Documents that are made of code say what the code says."""

import importlib.util
import re
from pathlib import Path
from types import ModuleType

from mechanisms.cards import CARDS
from scenarios.show_kind import in_words

ROOT = Path(__file__).parent.parent


def writer() -> ModuleType:
    spec = importlib.util.spec_from_file_location(
        "write_mechanisms", ROOT / "docs/write_mechanisms.py"
    )
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_page_of_mechanisms_is_what_the_cards_say() -> None:
    made = writer().page()
    assert (ROOT / "docs/mechanisms.md").read_text("utf-8") == made, "run docs/write_mechanisms.py"


def test_every_erratum_that_a_card_cites_is_explained() -> None:
    cited = {name for card in CARDS.values() for name in re.findall(r"E\d+", str(card))}
    assert cited <= set(writer().ERRATA)


def test_every_card_is_complete_and_fits_a_terminal() -> None:
    for kind in CARDS:
        lines = in_words(kind)
        assert lines[0].startswith(f"{kind}: ")
        assert max(map(len, lines)) <= 100
        assert all(
            getattr(CARDS[kind], part)
            for part in ("sends", "keeps", "touches", "guarantee", "source", "mended")
        )


def test_the_readme_names_every_kind() -> None:
    text = (ROOT / "README.md").read_text("utf-8")
    assert all(f"`{kind}`" in text for kind in CARDS)
