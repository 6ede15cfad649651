"""A report is one page that is well formed, needs nothing from elsewhere, says what the record says, and obeys no name."""

import json
import re
import shutil
import sys
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from scenarios.api.result import open_run
from scenarios.api.sweep_result import open_sweep
from scenarios.command.main import main
from scenarios.language.json_numbers import show
from scenarios.language.visible_text import visible
from scenarios.pictures.html import Html, table, tag, text
from scenarios.pictures.inline_svg import inline
from scenarios.pictures.report import fragment_of, page_of
from scenarios.pictures.report_style import page_rules, rules
from scenarios.records.file_guard import FolderError
from scenarios.records.group_privacy import privacy_of
from scenarios.records.reader import RunRecord
from scenarios.records.sweep_record import SweepRecord
from tests.scenarios.records.test_sweep_summary import swept
from tests.support.builders import private
from tests.support.catalogue import EVERY, world
from tests.support.catalogue import private as is_private
from tests.support.finished_runs import finished
from tests.support.pages import Page, read

pytestmark = pytest.mark.filterwarnings("ignore::scenarios.api.opened_folder.DamagedRun")
"""Tables of sweeps are made up here, and rest on no runs."""

HOSTILE = "</title><script>alert(1)</script><img src=x onerror=alert(1)>&amp;\"'\x1b[2J\u202e"
FAULTS = [{"name": "a crash", "at": 3, "for": 4, "crash": [1]}]


def record(**sections: Any) -> RunRecord:
    return RunRecord(finished(private(**sections)).outcome.folder)


def page(of: RunRecord | SweepRecord) -> Page:
    read_back = read(page_of(of))
    assert read_back.problems == []
    return read_back


@pytest.fixture
def hostile(tmp_path: Path) -> RunRecord:
    """A run in whose files every text that a page shows was replaced."""
    folder = tmp_path / "run"
    shutil.copytree(record(fault=FAULTS).path, folder)
    summary = json.loads((folder / "summary.json").read_text())
    summary |= {
        "scenario": HOSTILE,
        "mechanism": HOSTILE,
        "ended_by": HOSTILE,
        "notes": [HOSTILE],
        "warnings": [HOSTILE],
    }
    summary["groups"][0]["name"] = HOSTILE
    summary["faults"][0]["name"] = HOSTILE
    summary["epsilon"] |= {
        "view": HOSTILE,
        "accountant": HOSTILE,
        "not_covered": [HOSTILE],
        "views": {},
        "side_by_side": {},
    }
    summary["invariants"] = {HOSTILE: {"verdict": "pass"}}
    summary["targets"] = {HOSTILE: 1.0}
    wanted = {"verdict": "pass", "wanted": HOSTILE, "got": 1.0, "t": 1.0, "note": HOSTILE}
    summary["expectations"] = [wanted]
    (folder / "summary.json").write_text(json.dumps(summary))
    manifest = json.loads((folder / "manifest.json").read_text())
    manifest |= {"scenario": HOSTILE, "environment": {HOSTILE: HOSTILE}}
    manifest["sha256"][HOSTILE] = HOSTILE
    (folder / "manifest.json").write_text(json.dumps(manifest))
    (folder / "scenario.toml").write_text(f"# {HOSTILE}\n\x00\n")
    return RunRecord(folder)


@pytest.mark.slow
def test_no_text_of_a_file_becomes_markup(hostile: RunRecord) -> None:
    for markup in (page_of(hostile), fragment_of(hostile)):
        shown = read(markup)
        assert shown.problems == []
        assert shown.named("script", "img") == []
        assert not {c for c in markup if c != "\n" and not c.isprintable()}
        assert "<script>alert(1)</script>" in shown.text
        assert "\\u001b[2J\\u202e" in shown.text
    assert sum(HOSTILE[:8] in words for words in page(hostile).words) >= 14


@pytest.mark.parametrize(
    "words", [HOSTILE, "<a href='http://x'>", "\x00\x9b1m", "a\nb", "]]>", "--!>"]
)
def test_words_are_text_wherever_they_stand(words: str) -> None:
    markup = tag("p", words, table(words, [words], [[words, words]]), title=words)
    shown = read(markup)
    assert shown.problems == []
    assert [name for name, _ in shown.elements] == [
        "p",
        "div",
        "table",
        "caption",
        "thead",
        "tr",
        "th",
        "tbody",
        "tr",
        "th",
        "td",
    ]
    assert shown.named("p") == [{"title": visible(words)}]
    assert markup.isprintable()
    assert text(Html(words)) == text(words)


@pytest.mark.slow
@pytest.mark.parametrize("name", EVERY)
def test_every_finished_run_has_a_page(name: str) -> None:
    shown = page(RunRecord(finished(world(name)).outcome.folder))
    assert shown.named("h1")
    assert "Run it again" in shown.text


@pytest.fixture(scope="module")
def whole() -> Page:
    return page(record(fault=FAULTS, expect=[{"metric": "epsilon.max", "at_most": 4.0}]))


@pytest.mark.slow
def test_headings_come_in_order_and_everything_has_a_name(whole: Page) -> None:
    levels = [int(name[1]) for name, _ in whole.elements if re.fullmatch("h[1-6]", name)]
    assert levels.count(1) == 1
    assert levels[0] == 1
    assert all(after <= before + 1 for before, after in pairwise(levels))
    assert whole.named("html")[0]["lang"] == "en"
    for landmark in ("header", "nav", "main", "footer"):
        assert len(whole.named(landmark)) == 1, landmark
    assert len(whole.named("caption")) == len(whole.named("table")) > 4
    assert all(a.get("scope") in ("col", "row") for a in whole.named("th"))
    pictures = whole.named("svg")
    assert len(pictures) >= 3
    assert all(a["role"] == "img" for a in pictures)
    assert all("aria-labelledby" in a or a.get("aria-label") for a in pictures)
    assert len(whole.named("figcaption")) == len(whole.named("figure")) == len(pictures)


@pytest.mark.slow
def test_a_page_may_load_and_run_nothing(whole: Page) -> None:
    (policy,) = [a["content"] for a in whole.named("meta") if "http-equiv" in a]
    assert policy is not None
    assert policy.startswith("default-src 'none'; style-src 'unsafe-inline'; img-src data:")
    assert whole.named("script", "link", "iframe", "object", "base", "form") == []
    assert not [name for _, a in whole.elements for name in a if name.startswith("on")]
    assert "url(" not in page_rules()
    assert "@import" not in page_rules()


@pytest.mark.slow
def test_a_page_says_what_the_record_says(whole: Page) -> None:
    of = record(fault=FAULTS, expect=[{"metric": "epsilon.max", "at_most": 4.0}])
    digests = of.manifest["digests"]
    for words in (digests["schedule"], digests["value"], "Verdict: passed", "replaced", "crash 1×"):
        assert words in whole.text
    assert f"{of.path}/resolved.toml --seed {of.manifest['seed']}" in whole.text
    assert of.resolved_file.read_text() in page_of(of).replace("&quot;", '"').replace("&lt;", "<")


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in EVERY if is_private(name)])
def test_the_largest_epsilon_over_groups_is_that_of_the_summary(name: str) -> None:
    """It is composed anew from the ledger, whose charges are rounded up, in the tenth digit."""
    of = RunRecord(finished(world(name)).outcome.folder)
    privacy, told = privacy_of(of), of.summary["epsilon"]
    assert privacy is not None
    for those, wanted in (("by_accountant", "side_by_side"), ("by_view", "views")):
        for key, value in told[wanted].items():
            largest = max(getattr(group, those)[key] for group in privacy.groups)
            assert largest == pytest.approx(float(value), rel=1e-6), key
    assert sum(group.releases for group in privacy.groups) == of.summary["releases"]


def test_each_group_has_its_own_epsilon_and_its_own_delta() -> None:
    nodes = [
        {"name": "small", "count": 2, "budget": {"epsilon": 2.0, "delta": 1e-6}},
        {"name": "large", "count": 4, "budget": {"epsilon": 4.0, "delta": 1e-5}},
    ]
    privacy = privacy_of(record(nodes=nodes))
    assert privacy is not None
    small, large = privacy.groups
    assert (small.delta, large.delta) == (1e-6, 1e-5)
    assert 1.0 < small.by_view[privacy.terms.view] <= 2.0 * (1 + 1e-6)
    assert 3.0 < large.by_view[privacy.terms.view] <= 4.0 * (1 + 1e-6)


def test_a_sweep_has_a_page_with_a_row_for_each_setting(tmp_path: Path) -> None:
    shown = page(swept(tmp_path))
    assert "mean ± half of the 95 % t-interval over seeds" in shown.text
    assert "dvp, seed 1 failed: the disk is full" in shown.text
    assert "\x1b" not in page_of(SweepRecord(tmp_path))
    swept(tmp_path, "running")
    (tmp_path / "sweep.csv").unlink()
    assert "No run has ended yet." in page(SweepRecord(tmp_path)).text


@pytest.mark.slow
def test_a_page_has_the_epsilon_of_every_view_what_it_leaves_out_and_the_way_back(
    tmp_path: Path,
) -> None:
    folder = tmp_path / "run"
    shutil.copytree(record(privacy={"views": ["eavesdropper", "outsider"]}).path, folder)
    summary = json.loads((folder / "summary.json").read_text())
    reasons = ["the categories of a column"]
    summary["epsilon"] |= {"covered": False, "not_covered": reasons}
    (folder / "summary.json").write_text(json.dumps(summary))
    world = json.loads((folder / "world.json").read_text()) | {"not_covered": reasons}
    (folder / "world.json").write_text(json.dumps(world))
    of = RunRecord(folder)
    shown = page(of).text
    privacy = privacy_of(of)
    assert privacy is not None
    assert set(privacy.groups[0].by_view) >= {"eavesdropper", "outsider"}
    for view, value in privacy.groups[0].by_view.items():
        assert f"view {view}" in shown
        assert show(value) in shown
    assert "Not covered by ε" in shown
    assert "the categories of a column" in shown


@pytest.mark.slow
def test_what_a_long_table_leaves_out_is_counted(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    shutil.copytree(record().path, folder)
    summary = json.loads((folder / "summary.json").read_text())
    expected = {"verdict": "pass", "wanted": "x", "got": 1.0, "t": 1.0, "note": ""}
    summary |= {
        "groups": summary["groups"] * 1_203,
        "expectations": [expected] * 201,
        "notes": [f"note {at}" for at in range(1_207)],
        "warnings": [],
        "differences": [],
    }
    (folder / "summary.json").write_text(json.dumps(summary))
    verdicts = {key: summary.get(key) for key in ("verdict", "invariants", "expectations")}
    (folder / "verdicts.json").write_text(json.dumps(verdicts))
    shown = page(RunRecord(folder)).text
    for words in ("and 1,003 more groups", "and 1 more expectations", "and 1,007 more notes"):
        assert words in shown


def test_a_page_of_a_sweep_has_the_command_that_repeats_it(tmp_path: Path) -> None:
    made = swept(tmp_path)
    path = made.path / "sweep.json"
    manifest = json.loads(path.read_text())
    path.write_text(json.dumps(manifest | {"command": "hush sweep 'a b' --seeds 0..9"}))
    assert "hush sweep 'a b' --seeds 0..9" in page(SweepRecord(made.path)).text


@pytest.mark.slow
def test_a_page_of_a_run_over_files_says_that_the_command_needs_them(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    shutil.copytree(record().path, folder)
    assert "--data" not in page(RunRecord(folder)).text
    resolved = folder / "resolved.toml"
    head = resolved.read_text().replace("sha256 = {}", 'sha256 = { "adult/adult.data" = "00" }')
    resolved.write_text(head)
    assert "adult/adult.data" in page(RunRecord(folder)).text
    assert "name the folder that holds them by --data" in page(RunRecord(folder)).text


@pytest.mark.slow
def test_without_the_extra_one_sentence_stands_for_all_pictures(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    import scenarios.pictures as room

    monkeypatch.setitem(sys.modules, "matplotlib", None)
    monkeypatch.delitem(sys.modules, "scenarios.pictures.canvas", raising=False)
    monkeypatch.delattr(room, "canvas", raising=False)
    shown = page(record())
    assert [a.get("class") for a in shown.named("svg")] == ["bars"]
    assert shown.text.count("pip install") == 1


def test_pictures_share_no_ids_and_keep_no_way_out() -> None:
    svg = (
        b'<?xml version="1.0"?><!DOCTYPE svg PUBLIC "-//W3C//DTD SVG 1.1//EN" "http://www.w3.org/x.dtd">'
        b'<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" viewBox="0 0 9 9">'
        b"<metadata>made</metadata><style>*{fill:red}</style><script>alert(1)</script><!-- words -->"
        b'<defs><clipPath id="a"><path d="M0 0" onload="x()"/></clipPath></defs>'
        b'<g clip-path="url(#a)" id="b"><use xlink:href="#a"/><use xlink:href="http://x/y#a"/>'
        b'<image xlink:href="http://x/y.png"/><image xlink:href="data:text/html;base64,AA"/>'
        b'<image xlink:href="data:image/png;base64,iVBO\nRw=="/></g></svg>'
    )
    markup = tag("div", inline(svg, "one", "t", "d"), inline(svg, "two", "t", "d"))
    shown = read(markup)
    assert shown.problems == []
    assert shown.values("clip-path") == ["url(#one-0)", "url(#two-0)"]
    points = "data:image/png;base64,iVBORw=="
    assert shown.values("href") == ["#one-0", points, "#two-0", points]
    assert shown.named("script", "style", "metadata") == []
    assert "onload" not in markup
    with pytest.raises(FolderError, match="no SVG"):
        inline(b"<svg", "x", "t", "d")


@pytest.mark.slow
def test_the_data_card_is_in_the_page(whole: Page) -> None:
    card = record(fault=FAULTS, expect=[{"metric": "epsilon.max", "at_most": 4.0}]).data_card
    assert card is not None
    assert f"{card.points:,} training points of 6 agents" in whole.text
    bars = [a for a in whole.named("rect") if a.get("fill") == "#0072b2"]
    assert sorted(float(a["height"] or 0) for a in bars) == pytest.approx(
        sorted(60 * value for value in card.skew.each), abs=0.006
    )
    assert sum(label.points for label in card.labels) == card.points
    assert all(f"{label.points:,}" in whole.words for label in card.labels)


def _luminance(colour: str) -> float:
    """The relative luminance of WCAG 2.1."""
    parts = [int(colour[k : k + 2], 16) / 255 for k in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.03928 else ((c + 0.055) / 1.055) ** 2.4 for c in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def test_every_colour_of_words_has_a_contrast_of_at_least_four_and_a_half() -> None:
    for block in re.findall(r"(--ground:[^}]*?--link: #\w{6};)", rules("x"), re.DOTALL):
        colours = dict(re.findall(r"--(\w+): (#\w{6})", block))
        assert len(colours) == 9
        for ground in ("ground", "card"):
            for ink in ("ink", "soft", "good", "bad", "warn", "link"):
                light, dark = sorted((_luminance(colours[ground]), _luminance(colours[ink])))
                assert (dark + 0.05) / (light + 0.05) >= 4.5, (ground, ink)
    assert rules("x").count("--ground:") == 2


def test_rules_of_a_fragment_hold_inside_of_it_alone() -> None:
    """Each rule begins with the class of the fragment, so that nothing else of a notebook changes."""
    selectors = re.findall(r"([^{}]+)\{", re.sub(r"@media[^{]*\{", "", rules("hush-display")))
    assert len(selectors) > 20
    assert all(
        one.strip().startswith(".hush-display")
        for s in selectors
        for one in s.split(",")
        if one.strip()
    )


def test_the_command_writes_a_page_and_says_where(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "s").mkdir()
    swept(tmp_path / "s")
    assert main(["report", str(tmp_path / "s")]) == 2, "its rows rest on no runs"
    assert capsys.readouterr().out.strip() == str(tmp_path / "s" / "report.html")
    assert main(["report", str(tmp_path / "s"), "--out", str(tmp_path / "no" / "x.html")]) == 2
    assert "cannot be written" in capsys.readouterr().err
    own = tmp_path / "scenario.toml"
    own.write_text("mine")
    assert main(["report", str(tmp_path / "s"), "--out", str(own)]) == 2
    assert "a report ends in .html or .htm" in capsys.readouterr().err
    assert own.read_text() == "mine"
    assert main(["report", str(tmp_path)]) == 2
    assert "is not the folder of a run" in capsys.readouterr().err


@pytest.mark.slow
def test_a_notebook_shows_a_run_and_a_sweep_and_says_where_a_folder_is_damaged(
    tmp_path: Path,
) -> None:
    result = finished(private()).result
    shown = read(result._repr_html_())
    assert shown.problems == []
    assert len(shown.named("figure")) == 1
    assert shown.elements[0][1] == {"class": "hush-display"}
    assert "Verdict: passed" in shown.text
    assert result.report(tmp_path / "r.html").read_text("utf-8") == page_of(result)
    sweep = open_sweep(swept(tmp_path).path)
    assert "17 finished, 1 failed" in read(sweep._repr_html_()).text
    assert sweep.report() == tmp_path / "report.html"
    folder = tmp_path / "broken"
    shutil.copytree(result.path, folder)
    (folder / "summary.json").write_text("{]")
    damaged = read(open_run(folder)._repr_html_())
    assert "is damaged" in damaged.text
    assert damaged.problems == []
