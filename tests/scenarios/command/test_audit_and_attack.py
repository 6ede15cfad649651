"""`hush audit`, `hush attack`, and ledgers for other programs: codes, words, files."""

import csv
import io
import json
import math
from pathlib import Path

import pytest

from mechanisms.accounting import gaussian
from mechanisms.accounting.export import ADD_OR_REMOVE, REPLACE, as_tree, events
from mechanisms.accounting.loss import Loss, Tally
from tests.support.command import hush

DVP = """schema = 1
name = "one"
[run]
seed = 1
rounds = 1
[data]
source = "blobs"
dimension = 1
points = 20
[task]
loss = "smoothed-hinge"
[network]
topology = "path"
[[nodes]]
count = 2
clock = "synchronous"
[mechanism]
kind = "dvp"
alpha = 1.0
"""


@pytest.mark.slow
def test_an_audit_ends_with_its_verdict(tmp_path: Path) -> None:
    (tmp_path / "one.toml").write_text(DVP)
    fine = hush("audit", "one.toml", "--runs", "300", "--jobs", "1", cwd=tmp_path)
    assert fine.returncode == 0
    assert "not refuted" in fine.stdout
    for word in (
        "claimed",
        "audited",
        "charged",
        "power",
        "eavesdropper view",
        "δ = 1e-05",
        "2 × 300",
    ):
        assert word in fine.stdout
    assert sorted(p.name for p in (tmp_path / "runs/one-audit-1-1").iterdir()) == [
        "audit.json",
        "audit.png",
        "audit.txt",
    ]
    printed = ["--set", "mechanism.calibration=as_printed", "--out", "printed", "--json"]
    refuted = hush("audit", "one.toml", "--runs", "800", *printed, cwd=tmp_path)
    assert refuted.returncode == 1
    told = json.loads(refuted.stdout)
    assert set(told["reasons"]) - {"epsilon.declared_by"} == {
        path for path in ("power", "runs_for_80") if told[path] is None
    }
    assert told == json.loads((tmp_path / "printed/audit.json").read_text())
    assert told["verdict"] == "refuted"
    assert told["epsilon"]["claimed"] < told["epsilon"]["audited"] <= told["epsilon"]["charged"]
    assert told["runs"] == 800
    assert 0 <= told["power"] <= 1
    assert "\x1b" not in refuted.stderr  # no bar on a pipe


@pytest.mark.slow
def test_a_broken_charge_ends_with_three(tmp_path: Path) -> None:
    done = hush("audit", "errata/e21-low-bits-unrounded", "--runs", "800", cwd=tmp_path)
    assert done.returncode == 3
    assert "low bits of doubles" in done.stdout


@pytest.mark.slow
@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["audit", "consensus-poisson"], "makes no promise here that could be refuted"),
        (
            ["audit", "quickstart", "--view", "server"],
            "there is no server view in quickstart: eavesdropper, outsider",
        ),
        (["audit", "quickstart", "--node", "100"], "no agent 100: ids run from 0 to 99"),
        (["audit", "quickstart", "--runs", "2"], "needs at least 4 runs"),
        (["audit", "quickstart", "--confidence", "1"], "at least 0.5 and below 1"),
        (["audit", "quikstart"], "did you mean 'quickstart'?"),
        (["attack", "kkt", "quickstart"], "admm, dvp, pvp, madmm, pp"),
        (["attack", "kkt", "private-consensus", "--node", "-1"], "no agent -1"),
        (["attack", "kkt", "private-consensus", "--record", "100000"], "has records 0 to"),
        (["attack", "guess", "quickstart"], "must be one of its names"),
        (["show", "cd", "--ledger", "csv"], "--ledger needs the folder of a run"),
    ],
)
def test_what_cannot_be_asked_is_told(words: list[str], said: str, tmp_path: Path) -> None:
    done = hush(*words, cwd=tmp_path)
    assert done.returncode == 2
    assert said in done.stderr
    assert "Traceback" not in done.stderr
    assert not (tmp_path / "runs").exists()


@pytest.mark.slow
def test_attacks_tell_what_they_recovered_beside_what_was_promised(tmp_path: Path) -> None:
    done = hush("attack", "kkt", "errata/e22-secret-penalty", cwd=tmp_path)
    assert done.returncode == 0
    for word in ("η secret", "cosine 1.0000", "guessing 0 is off by", "promised", "∞"):
        assert word in done.stdout
    told = json.loads(hush("attack", "kkt", "errata/e22-secret-penalty", "--json").stdout)
    assert max(r["error"] for r in told["recovered"]) < 1e-8
    (tmp_path / "one.toml").write_text(DVP)
    done = hush("attack", "membership", "one.toml", "--runs", "8", "--records", "2", cwd=tmp_path)
    assert done.returncode == 0
    for word in ("AUC", "advantage", "allows anybody", "outsider view"):
        assert word in done.stdout


@pytest.mark.slow
def test_a_ledger_leaves_as_a_table_and_as_events(tmp_path: Path) -> None:
    assert hush("run", "ring5-dropout", "--quiet", "--out", "ran", cwd=tmp_path).returncode == 0
    shown = hush("show", "ran", cwd=tmp_path).stdout
    for word in ("heard", "information, not an ε", "read by nobody", "budget"):
        assert word in shown
    table = list(
        csv.DictReader(io.StringIO(hush("show", "ran", "--ledger", "csv", cwd=tmp_path).stdout))
    )
    lines = [json.loads(line) for line in (tmp_path / "ran/ledger.jsonl").read_text().splitlines()]
    assert [(int(r["node"]), int(r["k"]), float(r["charged"])) for r in table] == [
        (line["node"], line["k"], line["charged"]) for line in lines
    ]
    told = json.loads(hush("show", "ran", "--ledger", "dp-accounting", cwd=tmp_path).stdout)
    assert set(told["agents"]) == {str(i) for i in range(5)}
    assert len(told["agents"]["0"][REPLACE]["events"]) == sum(
        1 for line in lines if line["node"] == 0
    )


@pytest.mark.slow
def test_the_library_composes_the_events_to_what_we_say() -> None:
    """Gaussian and Laplace noise by its PLD accountant; pure ε by randomised response under replacement."""
    import dp_accounting
    from dp_accounting.pld import PLDAccountant

    from mechanisms.accounting.compose import by

    noise = Tally([(Loss("laplace", 0.2), 10), (Loss("gaussian", 0.3), 5)])
    accountant = PLDAccountant(value_discretization_interval=1e-4)
    accountant.compose(events(noise)[ADD_OR_REMOVE])
    assert accountant.get_epsilon(1e-5) == pytest.approx(by("pld", noise, 1e-5), rel=0.01)

    pure = Tally([(Loss("pure", 0.1), 100)])
    replaced = dp_accounting.NeighboringRelation.REPLACE_ONE
    accountant = PLDAccountant(replaced, value_discretization_interval=1e-4)
    accountant.compose(events(pure)[REPLACE])
    assert accountant.get_epsilon(1e-5) == pytest.approx(4.307, rel=5e-3)
    (one,) = set(events(Tally([(Loss("pure", 0.7), 1)]))[REPLACE].events)
    truth = 1 - one.noise_parameter / 2  # the odds of an honest answer are e^ε
    assert math.log(truth / (1 - truth)) == pytest.approx(0.7)
    alone = PLDAccountant()
    alone.compose(events(Tally([(Loss("gaussian", 1.0), 1)]))[ADD_OR_REMOVE])
    assert alone.get_epsilon(1e-5) == pytest.approx(gaussian.epsilon(1.0, 1e-5), rel=0.01)


def test_events_are_plain_data() -> None:
    bag = Tally(
        [(Loss("laplace", 0.5), 2), (Loss("none", float("inf")), 1), (Loss("pure", 0.0), 1)]
    )
    tree = as_tree(events(bag)[ADD_OR_REMOVE])
    assert [e["composed"]["event"] for e in tree["events"]] == [
        "LaplaceDpEvent",
        "NonPrivateDpEvent",
        "NoOpDpEvent",
    ]
    assert tree["events"][0]["composed"] == {"event": "LaplaceDpEvent", "noise_multiplier": 2.0}
    assert tree["events"][0]["count"] == 2
    json.dumps(tree)
