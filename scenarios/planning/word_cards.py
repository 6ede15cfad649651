"""The words of hush and their cards: every name of every family, with its definition, its facts and its keys.

A family of words is one record in `scenarios/planning/vocabulary/`, one file each. `hush show WORD` and its errors fold over
them. Nothing here loads NumPy.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from inspect import getdoc
from typing import Any

from scenarios.language.table_rules import Field, keys_of
from scenarios.planning.key_places import standing_places
from scenarios.planning.kinds import Family


@dataclass(frozen=True, slots=True, kw_only=True)
class WordCard:
    """What is known of one name of one family."""

    name: str
    says: str
    """What it is, in a sentence or more."""
    facts: Mapping[str, str] = field(default_factory=dict)
    """What else is known, by a label of one or two words, in the order of printing."""
    keys: Mapping[str, Field] = field(default_factory=dict)
    """Its parameters, with their rules and defaults."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WordFamily:
    """One family of words."""

    name: str
    """What one of its words is: `metric`, `data source`."""
    order: int
    """Its place among the families: the card of an earlier one is shown first."""
    names: Callable[[], Iterable[str]]
    card: Callable[[str], WordCard]
    """Return the card of a name, or of another form of one (`loss.mean`); raises KeyError for what is none."""
    knows: "Callable[[str], bool] | None" = None
    """Whether a word that `names` leaves out is a form of one; None where there are no such forms."""

    def has(self, word: str) -> bool:
        """Whether a word is a name of this family, or a form of one."""
        return word in self.names() or (self.knows is not None and self.knows(word))

    @property
    def article(self) -> str:
        """The family with its article: `an accountant`."""
        return f"{'an' if self.name[0] in 'aeiou' else 'a'} {self.name.replace('-', ' ')}"


FAMILIES: Family[WordFamily] = Family("scenarios.planning.vocabulary", WordFamily)
"""Every family by the name of its file."""


def families() -> list[WordFamily]:
    """Return every family, in order."""
    return sorted(FAMILIES.values(), key=lambda family: (family.order, family.name))


def cards_of(word: str) -> list[tuple[WordFamily, WordCard]]:
    """Return the card of a word in each family that has it; empty where none has. `FAMILY:NAME` asks one family."""
    whose, separator, name = word.partition(":")
    if separator:
        return [(f, f.card(name)) for f in families() if f.name == whose and f.has(name)]
    return [(f, f.card(word)) for f in families() if f.has(word)]


def all_names() -> list[str]:
    """Return every name of every family, each once."""
    return list(dict.fromkeys(name for family in families() for name in family.names()))


def in_a_line(text: str) -> str:
    """Return a docstring as one line: its paragraphs follow each other."""
    return " ".join(text.split())


def words_of(thing: Any) -> str:
    """Return the docstring of a record's table or module, as one line."""
    return in_a_line(getdoc(thing) or "")


def table_card(name: str, kinds: Mapping[str, Any], **facts: str) -> WordCard:
    """Return the card of a kind that is a table: its docstring, where its family may stand, its keys."""
    table = kinds[name]
    stands = {"stands at": "; ".join(standing_places(kinds))}
    return WordCard(name=name, says=words_of(table), facts=facts | stands, keys=keys_of(table))
