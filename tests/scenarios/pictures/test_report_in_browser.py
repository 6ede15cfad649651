"""A real browser opens a report: it prints nothing on its console, and asks for nothing from elsewhere."""

import json
import shutil
import subprocess
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from scenarios.pictures.report import page_of
from scenarios.records.reader import RunRecord
from tests.scenarios.records.test_sweep_summary import swept
from tests.support.builders import private
from tests.support.finished_runs import finished
from tests.support.pages import read

BROWSER = next(
    filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None
)
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(BROWSER is None, reason="no Chromium is installed on this machine"),
]


def opened(markup: str, folder: Path) -> tuple[str, list[str], set[str]]:
    """Open a page without a way to the network; return what the browser made of it, its console, and what it asked for."""
    folder.mkdir()
    file, net = folder / "page.html", folder / "net.json"
    file.write_text(markup, encoding="utf-8")
    options = (
        "--headless",
        "--no-sandbox",
        "--disable-gpu",
        "--no-first-run",
        "--enable-logging=stderr",
    )
    quiet = ("--disable-background-networking", "--disable-component-update", "--disable-sync")
    alone = ("--host-resolver-rules=MAP * ~NOTFOUND", f"--user-data-dir={folder / 'user'}")
    log = (f"--log-net-log={net}", "--dump-dom", file.as_uri())
    done = subprocess.run(
        [str(BROWSER), *options, *quiet, *alone, *log],
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    events = json.loads(net.read_text())["events"]
    asked = {urlsplit(e["params"]["url"]) for e in events if "url" in e.get("params", {})}
    console = [line for line in done.stderr.splitlines() if "CONSOLE" in line]
    return done.stdout, console, {f"{url.scheme}://{url.netloc}{url.path}" for url in asked}


@pytest.fixture(scope="module")
def own(tmp_path_factory: pytest.TempPathFactory) -> set[str]:
    """What the browser itself asks for, whatever page it opens."""
    blank = "<!doctype html><title>x</title>"
    return opened(blank, tmp_path_factory.mktemp("blank") / "b")[2]


def test_a_page_that_asks_and_complains_is_noticed(tmp_path: Path, own: set[str]) -> None:
    bad = '<!doctype html><script>console.error("no")</script><img src="http://elsewhere.invalid/x.png">'
    _, console, asked = opened(bad, tmp_path / "bad")
    assert len(console) == 1
    assert asked - own == {"http://elsewhere.invalid/x.png"}


@pytest.mark.parametrize("what", ["run", "sweep"])
def test_a_report_opens_in_silence(what: str, tmp_path: Path, own: set[str]) -> None:
    (tmp_path / "s").mkdir()
    of = swept(tmp_path / "s") if what == "sweep" else RunRecord(finished(private()).outcome.folder)
    markup = page_of(of)
    made, console, asked = opened(markup, tmp_path / "page")
    assert console == []
    assert asked <= own
    there, wanted = ([name for name, _ in read(text).elements] for text in (made, markup))
    assert there == wanted  # the browser found nothing to mend
