"""`--set KEY.kind=…` says which keys fell back to defaults, and which fell with the old kind."""

from itertools import product
from typing import Any

import pytest

from scenarios.language.table_rules import ABSENT, REQUIRED, keys_of
from scenarios.planning.fallbacks import fallbacks
from scenarios.planning.mechanism import MECHANISMS
from scenarios.planning.scenario import load
from tests.support.builders import scenario
from tests.support.command import hush


def told(tree: dict[str, Any], **settings: Any) -> list[str]:
    return fallbacks(load(tree, {key.replace("__", "."): value for key, value in settings.items()}))


PAIRS = [(a, b) for a, b in product(MECHANISMS, ("cd", "pp", "fedavg", "wddp")) if a != b]


@pytest.mark.parametrize(("old", "new"), PAIRS)
def test_every_default_and_every_dropped_key_is_named(old: str, new: str) -> None:
    keys = dict(next(iter(MECHANISMS[old].examples.values())))
    said = told(scenario(mechanism={"kind": old, **keys}), mechanism__kind=new)
    defaults = [
        name
        for name, field in keys_of(MECHANISMS[new].table).items()
        if field.default is not ABSENT and field.default is not REQUIRED
    ]
    if not defaults and not keys:
        assert said == []
        return
    (sentence,) = said
    assert sentence.startswith(f'mechanism is "{new}" in place of "{old}": ')
    kept, _, dropped = sentence.partition("dropped with")
    assert all(f"{name} = " in kept for name in defaults)
    assert all(f"{name} = " in dropped for name in keys)


def test_keys_that_are_given_again_are_not_named() -> None:
    tree = scenario(mechanism={"kind": "dvp", "C": 3.0, "rho": 0.2, "alpha": 0.1})
    (sentence,) = told(tree, mechanism__kind="pp", mechanism__C=2.0, mechanism__rho=0.3)
    assert "C = " not in sentence
    assert "rho = " not in sentence.partition("dropped")[0]
    assert "alpha = 0.1" in sentence


def test_a_bare_name_is_a_kind_too_and_the_last_setting_counts() -> None:
    tree = scenario(mechanism={"kind": "cd", "mu": 3.0})
    (sentence,) = told(tree, mechanism="pp")
    assert "mu = 3.0" in sentence
    assert told(tree, mechanism__kind="cd") == []
    assert told(tree, mechanism__mu=2.0) == []
    (last,) = told(tree, data__source="separators")
    assert last.startswith('data is "separators" in place of "blobs"')


def test_run_and_check_say_it_on_standard_error_and_check_in_its_text(tmp_path: Any) -> None:
    words = ("private-consensus", "--set", "mechanism.kind=pp")
    checked = hush("check", *words, cwd=tmp_path)
    assert "hush: mechanism is" in checked.stderr
    assert (
        'note       mechanism is "pp" in place of "dvp": at their defaults are C = 1.0'
        in checked.stdout
    )
    ran = hush("run", *words, "--until", "1", "-q", cwd=tmp_path)
    assert 'dropped with "dvp" are C = 3.0, rho = 0.2, eta = 0.5' in ran.stderr
