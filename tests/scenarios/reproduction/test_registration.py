"""A registered rule was committed before its result: git is asked for the order."""

import json
import subprocess
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest

from scenarios.reproduction.claim import CLAIMS, Claim, Experiment, in_order
from scenarios.reproduction.evidence import Evidence
from scenarios.reproduction.judgement import Judgement, Part, judged
from scenarios.reproduction.registration import REGISTRATIONS, digest, registered
from scenarios.reproduction.results import KEPT, read
from tests.support.paths import ROOT

REGISTERED = [claim for claim in in_order() if claim.looked is None]


def git(folder: Path, *words: str) -> str:
    return subprocess.run(
        ["git", "-C", str(folder), *words], check=True, capture_output=True, text=True
    ).stdout


def first_commit(folder: Path, text: str, file: str) -> str:
    """The first commit after which a file holds a text; empty where none does."""
    found = git(folder, "log", "--reverse", "--format=%H", f"-S{text}", "--", file).split()
    return found[0] if found else ""


def is_in_order(folder: Path, text: str, rules: str, results: str) -> bool:
    """Whether a text came into the file of rules by an earlier commit than into that of results."""
    rule, result = (first_commit(folder, text, file) for file in (rules, results))
    if not rule or rule == result:
        return False
    if not result:  # not yet committed
        return True
    return not subprocess.run(
        ["git", "-C", str(folder), "merge-base", "--is-ancestor", rule, result], check=False
    ).returncode


@pytest.mark.parametrize("claim", REGISTERED, ids=lambda claim: claim.name)
def test_a_registered_rule_is_the_one_that_was_registered(claim: Claim) -> None:
    """Who changes a rule after its result registers it anew, with new seeds, or says what was set after looking."""
    assert registered()[claim.name] == digest(claim)
    (result,) = (one for one in read(KEPT).claims if one.name == claim.name)
    assert result.rule_digest == digest(claim)


def test_nothing_else_is_registered() -> None:
    assert set(registered()) == {claim.name for claim in REGISTERED}
    for result in read(KEPT).claims:
        assert bool(result.rule_digest) == (not result.looked), result.name


@pytest.mark.skipif(not (ROOT / ".git").exists(), reason="needs the history")
def test_rules_were_committed_before_their_results() -> None:
    if git(ROOT, "rev-parse", "--is-shallow-repository").strip() == "true":
        pytest.skip("a shallow clone has no history")
    rules, results = (str(file.relative_to(ROOT)) for file in (REGISTRATIONS, KEPT))
    late = [
        name for name, text in registered().items() if not is_in_order(ROOT, text, rules, results)
    ]
    assert not late, "registered with their result, or after it"


@pytest.mark.parametrize(
    ("commits", "ordered"),
    [
        ((("rules",), ("results",)), True),
        ((("rules",),), True),
        ((("rules", "results"),), False),
        ((("results",), ("rules",)), False),
        ((("results",),), False),
    ],
)
def test_the_order_of_two_commits_is_seen(
    tmp_path: Path, commits: tuple[tuple[str, ...], ...], *, ordered: bool
) -> None:
    git(tmp_path, "init", "-q")
    for files in commits:
        for file in files:
            (tmp_path / file).write_text(json.dumps({"a": "0123abcd"}))
        git(tmp_path, "add", "-A")
        git(tmp_path, "-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "x")
    assert is_in_order(tmp_path, "0123abcd", "rules", "results") == ordered


def judge(_: Evidence) -> Judgement:
    return judged([Part("x", (1.0,), above=0, exact=True)])


def judge_by(_: Evidence, *, bound: float) -> Judgement:
    return judged([Part("x", (1.0,), above=bound, exact=True)])


def other(_: Evidence) -> Judgement:
    return judged([Part("x", (1.0,), above=0.5, exact=True)])


def test_whatever_decides_a_claim_changes_its_digest() -> None:
    base = replace(
        CLAIMS["bellet-equation-4"], judge=judge, experiments=(Experiment("quickstart", seeds="1"),)
    )
    bound = partial(judge_by, bound=0.0)
    changed = [
        replace(base, rule="another"),
        replace(base, reading="another"),
        replace(base, judge=other),
        replace(base, judge=bound),
        replace(base, judge=partial(judge_by, bound=0.1)),
        replace(base, experiments=(Experiment("quickstart", seeds="2"),)),
        replace(base, experiments=(Experiment("ring5-dropout", seeds="1"),)),
        replace(base, experiments=(Experiment("quickstart", seeds="1", metrics=("loss.mean",)),)),
        replace(
            base,
            experiments=(
                Experiment("quickstart", seeds="1", label="l", sets={"network.loss": 0.1}),
            ),
        ),
    ]
    digests = [digest(claim) for claim in (base, *changed)]
    assert len(set(digests)) == len(digests)
    assert digest(replace(base, decides="another", looked="l")) == digest(base)


def test_a_rule_without_a_name_cannot_be_registered() -> None:
    claim = replace(CLAIMS["bellet-equation-4"], judge=lambda _: judged([]))
    with pytest.raises(ValueError, match="named function"):
        digest(claim)
