"""Every word of hush has a card: one law over all families and all their names."""

import json
from collections.abc import Iterator

import pytest

from scenarios.command.main import main
from scenarios.command.word_card import as_tree, describe, in_lines, in_words
from scenarios.language.reader import library_names
from scenarios.language.table_rules import Kinds, keys_of
from scenarios.planning.choice_words import MEANINGS
from scenarios.planning.key_places import choices, key_places, rules_of
from scenarios.planning.metric_names import METRICS
from scenarios.planning.word_cards import WordCard, WordFamily, all_names, cards_of, families

FAMILIES = families()


def cards() -> Iterator[tuple[WordFamily, WordCard]]:
    for family in FAMILIES:
        for name in family.names():
            yield family, family.card(name)


@pytest.mark.parametrize("family", FAMILIES, ids=[family.name for family in FAMILIES])
def test_every_name_has_a_definition_facts_and_parameters(family: WordFamily) -> None:
    names = list(family.names())
    assert names
    assert len(set(names)) == len(names)
    assert len(in_lines(family)) == len(names)
    for name in names:
        card = family.card(name)
        assert card.name == name
        assert len(card.says) > 3
        assert all(label.strip() and text.strip() for label, text in card.facts.items()), name
        assert all(describe(field.rule) for field in card.keys.values()), name
        lines = in_words(family, card)
        assert lines[0].startswith(f"{name}: ")
        assert (
            max(map(len, lines)) <= 100 or max(len(word) for word in " ".join(lines).split()) > 80
        )
        json.dumps(as_tree(family, card))


def test_every_kind_that_may_stand_at_a_key_has_a_card_with_its_keys() -> None:
    checked = 0
    for place in key_places():
        for rule in rules_of(place.field.rule):
            if not isinstance(rule, Kinds):
                continue
            for kind, table in rule.kinds.items():
                known = [card for _, card in cards_of(kind)]
                assert known, f"{place}: {kind} has no card"
                assert any(set(keys_of(table)) <= set(card.keys) for card in known), (place, kind)
                checked += 1
    assert checked > 100


def test_every_word_that_a_key_chooses_from_has_a_card() -> None:
    assert not [word for word in choices() if not cards_of(word)]


def test_every_meaning_is_of_a_word_that_its_key_chooses_from() -> None:
    """Words and meanings cannot part: none is left of a word that went, and none is without one."""
    known = {(place.name, word) for word, places in choices().items() for place in places}
    assert set(MEANINGS) <= known
    own = {"views", "accountant", "calibrate", "filter"}
    assert sorted(pair for pair in known - set(MEANINGS) if pair[0] not in own) == []


def test_a_kind_says_at_which_keys_it_may_stand() -> None:
    stands = dict(cards_of("distribution:pareto")[0][1].facts)["stands at"]
    for key in (
        "latency of [network]",
        "compute of [[nodes]]",
        "for of [[fault]]",
        "latency of [[link]]",
    ):
        assert key in stands


@pytest.mark.parametrize("metric", METRICS.values(), ids=list(METRICS))
def test_a_metric_says_its_unit_its_oracle_and_when_it_is_taken(metric: object) -> None:
    name: str = metric.name  # type: ignore[attr-defined] # a Metric
    facts = dict(cards_of(f"metric:{name}")[0][1].facts)
    assert {"unit", "of", "oracle's", "sampled", "stands at"} <= set(facts)
    assert facts["oracle's"].startswith("yes" if metric.reads_models else "no")  # type: ignore[attr-defined]


def test_a_word_of_several_families_is_shown_in_each(capsys: pytest.CaptureFixture[str]) -> None:
    shared = [
        name for name in all_names() if len(cards_of(name)) > 1 and name not in library_names()
    ]
    assert {"loss", "uniform", "gaussian", "local"} <= set(shared)
    for name in shared[:40]:
        assert main(["show", name]) == 0
        said = capsys.readouterr().out
        for family, _ in cards_of(name):
            assert f"  is         {family.article}\n" in said
        assert main(["show", name, "--json"]) == 0
        tree = json.loads(capsys.readouterr().out)
        assert len(tree["also"]) == len(cards_of(name)) - 1


def test_a_misspelt_word_names_the_nearest_of_all(capsys: pytest.CaptureFixture[str]) -> None:
    tried = 0
    for family, card in cards():
        wrong = f"{card.name[:-1]}qz"
        if len(card.name) < 7 or cards_of(wrong) or family.name in {"key", "value"}:
            continue
        assert main(["show", wrong]) == 2
        said = capsys.readouterr().err
        assert "did you mean" in said
        tried += card.name in said
    assert tried > 60


def test_a_family_is_asked_by_its_name(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["show", "data-source:adult"]) == 0
    assert "  is         a data source\n" in capsys.readouterr().out
    assert main(["show", "adult"]) == 0
    said = capsys.readouterr()
    assert said.out.startswith("schema = 1")
    assert "hush show data-source:adult" in said.err
    assert main(["show", "metric:"]) == 0
    assert len(capsys.readouterr().out.splitlines()) == len(list(FAMILIES[2].names()))
    assert main(["show", "metrics:"]) == 2
    assert (
        "there is no family of words 'metrics'; did you mean 'metric:'" in capsys.readouterr().err
    )
    assert main(["show", "Pareto"]) == 2
    assert "did you mean 'pareto' (a distribution)" in capsys.readouterr().err
    assert main(["show", "metric:los"]) == 2
    assert "there is no metric 'los'; did you mean 'loss'?" in capsys.readouterr().err
