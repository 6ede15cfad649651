"""Documents that are made of code say what the code says."""

import importlib.util
import math
import re
from pathlib import Path
from types import ModuleType

import pytest

from scenarios.command.word_card import in_words
from scenarios.planning.mechanism import MECHANISMS
from scenarios.planning.vocabulary.mechanism import KIND
from tests.support.paths import ROOT


def writer(name: str) -> ModuleType:
    """Import a program of docs/."""
    spec = importlib.util.spec_from_file_location(name, ROOT / f"docs/{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_page_of_mechanisms_is_what_the_cards_say() -> None:
    made = writer("write_mechanisms").page()
    assert (ROOT / "docs/mechanisms.md").read_text("utf-8") == made, "run docs/write_mechanisms.py"


def test_the_tables_of_metrics_and_accountants_are_what_their_records_say() -> None:
    text = (ROOT / "docs/reference.md").read_text("utf-8")
    assert writer("write_metrics").page(text) == text, "run docs/write_metrics.py"


def test_the_tables_of_actions_are_what_their_records_say() -> None:
    text = (ROOT / "docs/faults.md").read_text("utf-8")
    assert writer("write_faults").page(text) == text, "run docs/write_faults.py"


def test_every_erratum_that_a_card_cites_is_explained() -> None:
    cited = {name for kind in MECHANISMS.values() for name in re.findall(r"E\d+", str(kind.card))}
    assert cited <= set(writer("write_mechanisms").ERRATA)


def test_every_card_is_complete_and_fits_a_terminal() -> None:
    for kind in MECHANISMS:
        lines = in_words(KIND, KIND.card(kind))
        assert lines[0].startswith(f"{kind}: ")
        assert max(map(len, lines)) <= 100
        assert all(
            getattr(MECHANISMS[kind].card, part)
            for part in ("sends", "keeps", "touches", "guarantee", "source", "mended")
        )


def test_the_readme_counts_the_kinds_and_the_page_of_papers_names_them() -> None:
    from scenarios.planning.fault_kinds import FAULTS

    readme = (ROOT / "README.md").read_text("utf-8")
    assert f"[{len(MECHANISMS)} algorithms](docs/mechanisms.md)" in readme
    assert f"[{len(FAULTS)} kinds of faults](docs/faults.md)" in readme
    papers = (ROOT / "docs/papers.md").read_text("utf-8")
    assert {kind for kind in MECHANISMS if f"`{kind}`" not in papers} == set()


def test_the_readme_is_short_and_has_its_two_commands() -> None:
    text = (ROOT / "README.md").read_text("utf-8")
    assert len(text.splitlines()) < 120
    for mark, ends in (("run", "hush run"), ("tests", "--dist loadfile")):
        (command,) = re.findall(rf"<!-- {mark} -->\n```sh\n(python3 .*)\n```", text)
        assert command.endswith(ends)


def findings() -> str:
    """The findings of the README as one line, without links and headings."""
    text = (ROOT / "README.md").read_text("utf-8")
    part = text.partition("## Three findings")[2].partition("\n## ")[0]
    return " ".join(re.sub(r"\[[^\]]*\]\([^)]*\)", "", part).split())


def held_figures() -> dict[str, str]:
    """Every phrase of the findings that holds a figure, with the unit that it names, made anew from where the figure comes from."""
    from scenarios.planning.scenario import load
    from scenarios.reproduction.page import in_short
    from scenarios.reproduction.papers import QUESTIONS
    from scenarios.reproduction.results import KEPT, read

    results = read(KEPT)
    found = {claim.name: "; ".join(claim.found) for claim in results.claims}

    def said(claim: str, pattern: str) -> list[str]:
        numbers = re.search(pattern, found[claim])
        assert numbers is not None, (claim, pattern)
        return list(numbers.groups())

    def signed(number: str) -> str:
        return f"{float(number):.3f}".replace("-", "−")

    first_audit = (ROOT / "docs/tutorials/first-audit.md").read_text("utf-8")  # its blocks are run
    audit = re.search(
        r"hush audit (errata/e01\S+) .*?claimed    ε = (\S+) .*?δ = (\S+)\).*?audited    ε ≥ (\S+) .*?at (\d+ %) confidence"
        r".*?charged    ε = (\S+) .*?accountant: (\w+)\)",
        first_audit,
        re.DOTALL,
    )
    assert audit is not None
    errata, claimed, delta, audited, confidence, charged, accountant = audit.groups()
    (pure,) = said("zhang-zhu-theorem-1", r"charged ([\d.]+)")
    assert pure == charged
    (budget,) = (
        group.budget
        for group in load("questions/price-of-asynchrony").read.nodes
        if group.budget is not None
    )
    releases = load("questions/price-of-asynchrony").given["mechanism"]["releases"]
    changes = re.findall(
        r"synchronous: (-?[\d.]+) \[(-?[\d.e-]+), (-?[\d.e-]+)\]; asked: > -0.03 and < 0.03: holds",
        found["questions-price-of-asynchrony"],
    )
    mean, low, high = max(changes, key=lambda part: abs(float(part[0])))
    pp, dvp = "questions-departures-of-others", "questions-departures-of-others-dual"
    (own,) = said(pp, r"pure ε of the last release, one neighbour over six: ([\d.]+)")
    (tight,) = said(pp, r"its ε at δ = 1e-5, tightest accountant, one neighbour over six: ([\d.]+)")
    left, stayed = said(
        pp, r"pure ε of the last release ([\d.]+) with one neighbour, ([\d.]+) with six"
    )
    assert float(own) == pytest.approx(float(left) / float(stayed), rel=1e-3)
    (dual,) = said(dvp, r"pure ε of the last release, one neighbour over six: ([\d.]+)")
    (loose,) = said(
        dvp, r"its ε at δ = 1e-5, tightest accountant, one neighbour over six: ([\d.]+)"
    )
    sentences = [one for one in results.sentences if one.readings[0].paper != QUESTIONS]
    registered = sum(one.is_registered for one in sentences)
    return {
        "audit": f"claims ε = {claimed} for a release. `hush audit {errata}` finds at least ε = {audited} ({confidence} confidence, "
        f"δ = {float(delta):.0e}".replace("e-0", "e-"),
        "charge": f"the ledger charges {charged} (pure ε; at δ = 1e-5 by accountant {accountant} the same)",
        "count": f"`hush reproduce` judges {len(sentences)} claims of five papers: {in_short(sentences)}; {registered} of them by rules that were registered before the result",
        "budget": f"With ε = {budget.epsilon:g} and {releases} releases for each agent (δ = {budget.delta:.0e}".replace(
            "e-0", "e-"
        ),
        "bound": f"by less than 0.03; the largest change is {signed(mean)}, interval [{signed(low)}, {signed(high)}] (the intervals of all {['no', 'one', 'two', 'three', 'four'][len(changes)]} latencies hold together with 95 %; the bound of 0.03",
        "pure": f"the last release costs {float(own):.2f} times as much after five of six neighbours have left: a pure ε of {float(left):.3f} in place of {float(stayed):.3f}.",
        "tight": f"Its ε at δ = 1e-5, by the tightest accountant, is {float(tight):.3f} times as large.",
        "dual": f"Under dual perturbation it costs {float(dual):.3f} times as much in pure ε, and {float(loose):.2f} times at δ = 1e-5.",
    }


def test_every_figure_of_the_findings_is_held_with_the_unit_that_it_names() -> None:
    """Without the phrases that are made from results nothing but years and numbers of the list is left: no figure is free."""
    text = findings()
    for name, phrase in held_figures().items():
        assert text.count(phrase) == 1, f"{name}: the README does not say: {phrase}"
        text = text.replace(phrase, "")
    text = re.sub(r"\((?:\w+, )*\w+ 20\d\d\)|\(20\d\d\)|(?:^|(?<= ))[123]\. (?=\*\*)", "", text)
    assert re.findall(r"\d\S*", text) == []


def test_a_release_costs_what_its_neighbours_pay_for() -> None:
    """αC/(ηVB) + ln(1 + Cc₁/(B(ρ + 2ηV))) and a thousandth for the solver: V = 6, then V = 1 (theory.md, 2.2)."""
    text, c1 = findings(), 0.25
    for degree in (6, 1):
        pull = 50 * c1 / (100 * (0.1 + 2 * 0.5 * degree))
        cost = 2 * 50 / (0.5 * degree * 100) + math.log1p(pull)
        (shown,) = re.findall(
            r"in place of ([\d.]+)\." if degree == 6 else r"a pure ε of ([\d.]+)", text
        )
        assert float(shown) == pytest.approx(cost * 1.001, abs=5e-4)


def test_the_page_of_the_console_names_every_key_and_every_order() -> None:
    from scenarios.console.control.commands import COMMANDS
    from scenarios.console.control.keys import KEYS
    from scenarios.planning.fault_kinds import FAULTS

    text = (ROOT / "docs/console.md").read_text("utf-8")
    for key in KEYS:
        assert f"`{key.shown}`" in text or key.shown in {"space", "⏎", "esc"}, key
    for order in set(COMMANDS) - set(FAULTS):
        assert f"`{order}" in text or f"`{order}`" in text, order


def test_the_reference_names_every_verb_and_every_kind_of_event() -> None:
    from actors.events import KINDS
    from scenarios.command.verbs import VERBS

    text = (ROOT / "docs/reference.md").read_text("utf-8")
    assert set(VERBS) <= set(re.findall(r"hush ([a-z]+)", text))
    assert {kind.__struct_config__.tag for kind in KINDS} <= set(re.findall(r"[a-z_]+", text))


def test_the_example_of_the_reference_runs_and_holds(tmp_path: Path) -> None:
    from scenarios import run_sync

    text = (ROOT / "docs/reference.md").read_text("utf-8")
    example = re.findall(r"```toml\n(.*?)```", text, re.DOTALL)[0]
    (tmp_path / "example.toml").write_text(example, encoding="utf-8")
    assert run_sync(tmp_path / "example.toml").summary["verdict"] == "pass"


def test_pictures_ask_nothing_of_anybody_else() -> None:
    for picture in (ROOT / "docs").glob("*.svg"):
        text = picture.read_text("utf-8")
        hosts = re.findall(r"https?://[^\"'<> )]+", text)
        assert set(hosts) == {"http://www.w3.org/2000/svg"}, picture.name
        assert "<script" not in text, picture.name
