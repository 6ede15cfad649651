"""Names of settings are as short as tells them apart, and what was shortened is said in full."""

import pytest

from scenarios.pictures.setting_names import SettingNames, last_parts, shortened

GAUSSIAN = "cd(mu=1.0, noise=gaussian, start=[0, 1], inner=dp(a=1, b=2))"
LAPLACE = "cd(mu=1.0, noise=laplace, start=[0, 1], inner=dp(a=1, b=2))"


@pytest.mark.parametrize(
    ("labels", "short"),
    [
        (["cd", "dvp"], ["cd", "dvp"]),
        (["cd(mu=1.0)", "dvp(releases=20)"], ["cd", "dvp"]),
        ([GAUSSIAN, LAPLACE], ["cd (noise=gaussian)", "cd (noise=laplace)"]),
        ([GAUSSIAN, LAPLACE, "dvp"], ["cd (noise=gaussian)", "cd (noise=laplace)", "dvp"]),
        (["cd", "cd(mu=1.0)"], ["cd", "cd (mu=1.0)"]),
        (["dp(a=f(1, 2))", "dp(a=f(1, 3))"], ["dp (a=f(1, 2))", "dp (a=f(1, 3))"]),
        (["a b(", "), ("], ["a b(", "), ("]),
    ],
)
def test_tables_are_called_by_what_others_have_not(labels: list[str], short: list[str]) -> None:
    assert list(shortened(labels).values()) == short


def test_what_was_shortened_is_said() -> None:
    calls = SettingNames({"mechanism": [GAUSSIAN, LAPLACE], "network.loss": [0.1, 0.2]})
    assert calls.of({"mechanism": LAPLACE, "network.loss": 0.1}) == "cd (noise=laplace), loss = 0.1"
    assert calls.explained == [
        f"cd (noise=gaussian) is {GAUSSIAN}.",
        f"cd (noise=laplace) is {LAPLACE}.",
    ]
    assert calls.of({"network.loss": None}) == ""


def test_keys_are_as_long_as_tells_them_apart() -> None:
    names = ["nodes.a.budget.epsilon", "nodes.b.budget.epsilon", "network.loss"]
    assert list(last_parts(names).values()) == ["a.budget.epsilon", "b.budget.epsilon", "loss"]
