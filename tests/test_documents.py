"""Documents that are made of code say what the code says."""

import importlib.util
import re
from pathlib import Path
from types import ModuleType

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


def test_the_findings_of_the_readme_are_those_of_the_results() -> None:
    """Each figure is one that the kept results hold, rounded: a run of the set that finds others must change the page."""
    from scenarios.reproduction.results import KEPT, read

    results = read(KEPT)
    text = (ROOT / "README.md").read_text("utf-8")
    page = (ROOT / "docs/reproduction.md").read_text("utf-8")
    counts = re.search(
        r"(\d+ claims of five papers), each judged by runs of hush \S+: (.*?)\.", page
    )
    assert counts is not None
    assert f"Of {counts[1]} {counts[2]}." in text
    found = {claim.name: " ".join(claim.found) for claim in results.claims}

    def said(claim: str, pattern: str) -> list[str]:
        numbers = re.search(pattern, found[claim])
        assert numbers is not None, (claim, pattern)
        return list(numbers.groups())

    audited, charged = said("zhang-zhu-theorem-1", r"audited at least ([\d.]+), charged ([\d.]+)")
    assert f"claims ε = 1 for a release. An audit finds at least {float(audited):.2f}" in text
    assert f"the ledger charges {float(charged):.2f}" in text
    parts = re.findall(r"synchronous: (-?[\d.]+) \[(-?[\d.e-]+), (-?[\d.e-]+)\]", found["questions-price-of-asynchrony"])  # fmt: skip
    largest = max(parts, key=lambda part: abs(float(part[0])))
    mean, low, high = (f"{float(each):.3f}".replace("-", "−") for each in largest)
    assert f"the largest change is {mean}, 95 % interval [{low}, {high}]" in text
    assert max(abs(float(part[0])) for part in parts) < 0.03
    (own,) = said("questions-departures-of-others", r"over that with six: ([\d.]+)")
    (dual,) = said("questions-departures-of-others-dual", r"over that with six: ([\d.]+)")
    assert f"a release costs {float(own):.1f} times as much" in text
    assert f"it costs {float(dual):.2f} times as much" in text


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
