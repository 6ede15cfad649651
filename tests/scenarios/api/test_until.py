"""How long a run lasts, from Python: a number of seconds, or a duration as a scenario writes it."""

import pytest

from scenarios.api.runs import make_plan
from scenarios.language.problems import ScenarioError


@pytest.mark.parametrize(
    ("until", "seconds"), [(2, 2.0), (0.25, 0.25), ("2s", 2.0), ("250ms", 0.25), ("1m", 60.0)]
)
def test_a_duration_is_the_number_of_its_seconds(until: float | str, seconds: float) -> None:
    assert make_plan("ring5-dropout", until=until).horizon == round(seconds * 1e9)


@pytest.mark.parametrize("until", ["soon", "", "2 weeks", "-1s"])
def test_what_is_no_duration_is_refused_with_its_name(until: str) -> None:
    with pytest.raises(ScenarioError, match="until"):
        make_plan("ring5-dropout", until=until)
