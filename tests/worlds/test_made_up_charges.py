"""Law: a release costs at least what its own scale, sensitivity and solve give, whatever charge stands beside them."""

import json
import math
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from mechanisms.accounting.spend import UNITS, Spend, implied_charge
from scenarios.language.json_numbers import number
from scenarios.records.ledger_file import spend_of
from scenarios.records.reader import RunRecord
from scenarios.records.run_folder import AT_THE_END
from tests.support.catalogue import EVERY, private, world
from tests.support.finished_runs import finished
from tests.support.records import RUNNING, events_of, say_running, write_singles

PRIVATE = [name for name in EVERY if private(name)]
ABOVE = {"local"}
"""Laws whose charge has a part that is in no scale: that of the labels."""


MADE_UP = {"charged", "jacobian", "hidden"}
"""The fields of a line that say what a release costs, and follow from the others."""


def killed(name: str, folder: Path) -> Path:
    """Copy a run of a kind as SIGKILL leaves it."""
    shutil.copytree(finished(world(name, "synchronous")).outcome.folder, folder)
    for file in ("ledger.jsonl", "metrics.parquet", *AT_THE_END):
        (folder / file).unlink(missing_ok=True)
    manifest = json.loads((folder / "manifest.json").read_text())
    (folder / "manifest.json").write_text(json.dumps(manifest | RUNNING))
    return folder


@pytest.mark.parametrize("name", PRIVATE)
def test_every_charge_follows_from_the_fields_beside_it(name: str) -> None:
    lines = RunRecord(finished(world(name, "synchronous")).outcome.folder).ledger_lines()
    spends = {
        json.dumps(line): spend_of(line) for line in lines if number(line["charged"]) < math.inf
    }
    for spend in spends.values():
        implied = implied_charge(spend)
        if spend.solve is not None:
            bent = math.log1p(spend.solve.bend / spend.solve.kappa)
            assert bent == pytest.approx(spend.jacobian, rel=1e-12)
        if spend.law in ABOVE:
            assert 0 < implied <= spend.charged
        else:
            assert spend.charged == pytest.approx(implied, rel=1e-12)


@pytest.mark.parametrize("name", [name for name in PRIVATE if not name.startswith("local-dp")])
def test_a_made_up_charge_lowers_no_epsilon(name: str, tmp_path: Path) -> None:
    """Every charge of a record is a tenth of what it was, in its spends, its events and its plan alike."""
    folder = killed(name, tmp_path / "run")
    record = RunRecord(folder)
    honest = number(record.epsilon["max"])
    if not record.proof.lines:
        pytest.skip("the run made no release")

    def tenth(tree: Any) -> Any:
        if isinstance(tree, dict):
            return {
                k: v / 10 if k in MADE_UP and isinstance(v, float) else tenth(v)
                for k, v in tree.items()
            }
        return [tenth(one) for one in tree] if isinstance(tree, list) else tree

    lines = [tenth(line) for line in record.ledger_lines()]
    write_singles(folder, [tenth(event) for event in events_of(folder)], lines)
    file = folder / "world.json"
    file.write_text(json.dumps(tenth(json.loads(file.read_text()))))
    edited = RunRecord(folder)
    assert number(edited.epsilon["max"]) >= honest * (1 - 1e-6)
    if honest < math.inf:
        assert any("their own scale and sensitivity" in words for words in edited.flaws)


def test_a_made_up_hidden_step_lowers_no_epsilon_of_an_outsider(tmp_path: Path) -> None:
    """Who sees the last model only is charged by the μ of a step: a tenth of it is not believed."""
    tree = world("central-gradient", "synchronous", privacy={"views": ["outsider"]})
    folder = tmp_path / "run"
    shutil.copytree(finished(tree).outcome.folder, folder)
    say_running(folder)
    for file in ("ledger.jsonl", "metrics.parquet", *AT_THE_END):
        (folder / file).unlink(missing_ok=True)
    record = RunRecord(folder)
    honest = number(record.epsilon["max"])
    lines = [line | {"hidden": line["hidden"] / 10} for line in record.ledger_lines()]
    assert lines
    write_singles(folder, events_of(folder), lines)
    text = (folder / "world.json").read_text()
    mu = str(json.loads(text)["plans"][0][0][1]["hidden"])
    (folder / "world.json").write_text(text.replace(mu, str(float(mu) / 10)))
    # The step's own μ also pays for the rounding of sums, which is no field: a share of 1e-7.
    assert number(RunRecord(folder).epsilon["max"]) >= honest * (1 - 1e-6)


@pytest.mark.parametrize("law", UNITS)
def test_every_law_of_noise_implies_a_charge(law: str) -> None:
    """By hand: Δ/s for a scale s, ζΔ for a rate ζ; nothing is known of pure noise, and no noise costs everything.

    Laplace noise is charged by the L1 norm, which is twice as long as the L2 norm at worst in four dimensions.
    """
    spend = Spend("cd", law, "corrected", 0.5, 3.0, "l2", 4, 0.0, 1.0, 1.0)
    assert law != "laplace" or implied_charge(replace(spend, norm="l1")) == 6.0
    by_hand = {"gaussian": 6.0, "laplace": 12.0, "norm-gamma": 1.5, "local": 1.5, "pure": 0.0}
    assert implied_charge(spend) == by_hand.get(law, math.inf)
