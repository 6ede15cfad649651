"""`hush reproduce`, `hush tradeoff` and `hush bounds`, as a user calls them."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from scenarios.reproduction.claim import CLAIMS
from scenarios.reproduction.results import KEPT, read
from tests.support.command import hush
from tests.support.paths import PUBLISHED

KEPT_VERDICTS = {claim.name: claim.verdict for claim in read(KEPT).claims}
QUICK = ("zhang-zhu-optimal-alpha", "bellet-proposition-1", "questions-departures-of-others")


def verdicts(folder: Path) -> dict[str, str]:
    tree = json.loads((folder / "reproduction.json").read_text("utf-8"))
    return {claim["name"]: claim["verdict"] for claim in tree["claims"]}


def test_a_claim_is_judged_with_a_page_and_pictures_and_twice_alike(tmp_path: Path) -> None:
    found = []
    for name in ("a", "b"):
        done = hush("reproduce", *QUICK, "--quick", "--out", str(tmp_path / name), "--jobs", "1")
        assert done.returncode == 0, done.stderr
        found.append(verdicts(tmp_path / name))
    assert found[0] == found[1]
    assert set(QUICK) < set(found[0])  # departures-of-others-dual, too
    # the same for every seed, a quick one decides as the whole set does
    assert found[0] == {name: KEPT_VERDICTS[name] for name in found[0]}
    page = (tmp_path / "a" / "reproduction.md").read_text("utf-8")
    assert "### zhang-zhu-optimal-alpha" in page
    assert (tmp_path / "a/reproduction/questions-departures-of-others.svg").is_file()


def cells(folder: Path) -> dict[str, tuple[int, int]]:
    """The finished runs of a folder, with what changes when one is run again."""
    found = {}
    for file in folder.glob("sweeps/*/cells/*/manifest.json"):
        if json.loads(file.read_text("utf-8"))["status"] == "finished":
            found[file.parent.name] = (file.stat().st_ino, file.stat().st_mtime_ns)
    return found


@pytest.mark.slow
def test_a_killed_set_goes_on_where_it_was(tmp_path: Path) -> None:
    words = [
        "reproduce",
        "bellet-figure-4",
        "--quick",
        "--out",
        str(tmp_path / "cut"),
        "--jobs",
        "1",
    ]
    process = subprocess.Popen(
        [sys.executable, "-m", "hush", *words], stdout=subprocess.DEVNULL, start_new_session=True
    )
    until = time.monotonic() + 120
    while len(cells(tmp_path / "cut")) < 3 and time.monotonic() < until:
        time.sleep(0.02)
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    before = cells(tmp_path / "cut")
    assert before
    assert hush(*words).returncode == 0
    after = cells(tmp_path / "cut")
    assert {name: after[name] for name in before} == before
    assert len(after) == 12
    whole = [*words[:-4], "--out", str(tmp_path / "whole"), "--jobs", "1"]
    assert hush(*whole).returncode == 0
    assert verdicts(tmp_path / "cut") == verdicts(tmp_path / "whole")


def test_a_name_that_is_none_has_a_nearest_one() -> None:
    done = hush("reproduce", "bellet-figure-9")
    assert (done.returncode, done.stdout) == (2, "")
    assert "bellet-figure" in done.stderr


def test_missing_data_leave_a_claim_undecided(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("HUSH_DATA", raising=False)
    monkeypatch.chdir(tmp_path)
    done = hush("reproduce", "bellet-table-1-free", "--out", str(tmp_path / "r"))
    assert done.returncode == 0
    (claim,) = json.loads((tmp_path / "r/reproduction.json").read_text("utf-8"))["claims"]
    assert claim["verdict"] == "undecided"
    assert "MovieLens" in claim["decides"]
    assert "put u.data" in claim["decides"]


def test_the_list_has_every_claim() -> None:
    done = hush("reproduce", "--list")
    assert [line.split()[0] for line in done.stdout.splitlines()] != []
    assert {line.split()[0] for line in done.stdout.splitlines()} == set(CLAIMS)
    listed = json.loads(hush("reproduce", "kang", "--list", "--json").stdout)
    assert {entry["name"] for entry in listed} == {
        n for n, c in CLAIMS.items() if c.paper == "kang"
    }


def test_quick_claims_are_refused_where_none_is() -> None:
    done = hush("reproduce", "kang-figure-2", "--quick")
    assert done.returncode == 2
    assert "--quick" in done.stderr


@pytest.fixture(scope="module")
def swept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("swept") / "sweep"
    done = hush(
        "sweep", "ring5-dropout", "--grid", "nodes.all.budget.epsilon=0.5,1,2,4,8",
        "--seeds", "0..2", "--metric", "loss.mean", "--out", str(out), "--quiet", "--jobs", "1",
    )  # fmt: skip
    assert done.returncode in {0, 1}, done.stderr
    return out


def test_a_budget_is_designed_from_a_sweep(swept: Path, tmp_path: Path) -> None:
    done = hush("tradeoff", str(swept), "--json", "--out", str(tmp_path / "t.svg"))
    assert done.returncode == 0, done.stderr
    figures = json.loads(done.stdout)
    assert len(figures["points"]) == 5
    assert 0.5 <= figures["best"]["alpha"] <= 8
    assert (tmp_path / "t.svg").is_file()
    words = hush("tradeoff", str(swept)).stdout
    assert "R²" in words
    assert "no ε covers the choice" in words


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--metric", "loss.p90"], "loss.mean"),
        (["--axis", "network.loss"], "does not vary"),
        (["--omega", "1,2"], "four numbers"),
        (["--low", "9"], "below the largest"),
        (["--most-loss", "1e-9"], "no α"),
    ],
)
def test_what_a_trade_off_cannot_be_made_of_is_said(
    swept: Path, options: list[str], said: str
) -> None:
    done = hush("tradeoff", str(swept), *options)
    assert done.returncode == 2
    assert said in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("schedule", "like"), [("uniform", None), ("growing", "corrected"), ("printed", "printed")]
)
def test_bounds_tell_the_shares_that_a_scenario_plans(
    tmp_path: Path, schedule: str, like: str | None
) -> None:
    """Equal ones of a uniform schedule; those of Proposition 2, by public bounds, only where its schedule is asked for."""
    text = (
        'schema = 1\nname = "shares"\nrun = { seed = 1, horizon = 20.0 }\n'
        'data = { source = "blobs", dimension = 3, points = 20 }\ntask = { l2 = 0.1 }\n'
        "nodes = [{ count = 6, budget = { epsilon = 4.0 } }]\n"
        f'mechanism = {{ kind = "cd", noise = "laplace", releases = 10, schedule = "{schedule}" }}\n'
    )
    (tmp_path / "shares.toml").write_text(text, "utf-8")
    told = json.loads(hush("bounds", str(tmp_path / "shares.toml"), "--json").stdout)["schedule"]
    assert told["name"] == schedule
    assert told["planned"] == pytest.approx([0.1] * 10 if like is None else told[like], rel=1e-2)
    words = hush("bounds", str(tmp_path / "shares.toml")).stdout
    assert f'as planned (schedule = "{schedule}")' in words


def test_bounds_of_descent_and_of_points() -> None:
    done = json.loads(hush("bounds", "quickstart", "--json", "--wakes", "1", "5").stdout)
    first, second = done["rows"]
    assert first["wakes_each"] == 1
    assert second["optimisation"] == pytest.approx(
        done["gap_at_start"] * done["contraction"] ** 500
    )
    assert sum(done["schedule"]["corrected"]) == pytest.approx(1)
    words = hush("bounds", "quickstart").stdout
    assert "assumes" in words
    sizes = hush("bounds", "lost-duals", "--norm", "2", "--error", "0.1").stdout
    assert "Theorem 3" in sizes
    assert hush("bounds", "lost-duals").returncode == 2
    assert "no bounds are known of" in hush("bounds", "federated-dropout").stderr


@pytest.mark.skipif(not PUBLISHED.is_dir(), reason="published data sets are not here")
def test_the_data_of_a_claim_are_found_where_they_are_named() -> None:
    from scenarios.planning.context import Options
    from scenarios.reproduction.perform import lack

    options = Options(folders=(PUBLISHED,))
    assert not any(lack(e, options) for claim in CLAIMS.values() for e in claim.experiments)
