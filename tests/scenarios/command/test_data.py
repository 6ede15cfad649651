"""The verb `data`: every published set is listed, with what is here of it."""

import json
from pathlib import Path

import pytest

from scenarios.command.main import main
from scenarios.planning.data_sources import SOURCES
from scenarios.planning.published import PublishedFile, PublishedSet
from tests.scenarios.command.test_what_is_loaded import hush_and
from tests.support.paths import PUBLISHED, needs_data
from tests.support.small_sets import small_set

SETS: dict[str, PublishedSet] = {
    name: kind.published for name, kind in SOURCES.items() if kind.published is not None
}


@pytest.fixture
def _alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("HUSH_DATA", raising=False)


@pytest.mark.usefixtures("_alone")
def test_every_set_is_listed_with_its_licence_and_where_to_get_it(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["data"]) == 0
    words = " ".join(capsys.readouterr().out.split())
    for name, known in SETS.items():
        assert f"{name}: missing" in words
        for said in (known.title, known.licence, known.citation, known.how_to_get()):
            assert said in words
    assert main(["data", "--json"]) == 0
    listed = json.loads(capsys.readouterr().out)
    assert [one["name"] for one in listed] == list(SETS)
    assert {one["state"] for one in listed} == {"missing"}
    assert all(file["path"] is None for one in listed for file in one["files"])


@pytest.mark.usefixtures("_alone")
@pytest.mark.parametrize("width", ["40", "80"])
def test_lines_fit_the_terminal_unless_a_name_is_longer(
    width: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", width)
    assert main(["data"]) == 0
    for line in capsys.readouterr().out.splitlines():
        assert len(line) <= int(width) or len(line.split()) == 1


@pytest.mark.usefixtures("_alone")
def test_what_is_here_of_a_set_is_said_file_by_file(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Small files are not the published ones; a set without one of its files is incomplete."""
    (data, test) = small_set("adult").write(tmp_path / "d")
    small_set("creditcard").write(tmp_path / "d")

    def told(name: str) -> dict[str, object]:
        assert main(["data", "--json", "--data", "d"]) == 0
        (one,) = (one for one in json.loads(capsys.readouterr().out) if one["name"] == name)
        assert isinstance(one, dict)
        return one

    adult = told("adult")
    assert adult["state"] == "altered"
    assert adult["size_bytes"] == data.stat().st_size + test.stat().st_size
    assert told("creditcard")["state"] == "altered"
    data.unlink()
    assert told("adult")["state"] == "incomplete"
    test.write_bytes(b"\x1f\x8b damaged")
    assert main(["data", "--data", "d"]) == 0
    words = " ".join(capsys.readouterr().out.split())
    assert "adult.data: not here" in words
    assert "adult.test: its compressed data" in words


@pytest.mark.usefixtures("_alone")
def test_a_folder_that_is_none_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["data", "--data", "nowhere"]) == 2
    assert capsys.readouterr().err == "--data nowhere: is not a folder\n"


def test_a_set_is_present_only_with_the_published_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A record of the small files themselves: then they are the published ones."""
    import hashlib
    from dataclasses import replace

    (path,) = small_set("bank").write(tmp_path)
    content = path.read_bytes()
    file = PublishedFile(path.name, len(content), 41, 40, hashlib.sha256(content).hexdigest())
    kind = SOURCES["bank"]
    known = replace(SETS["bank"], files=(file,))
    monkeypatch.setitem(SOURCES._loaded, "bank", replace(kind, published=known))
    monkeypatch.setenv("HUSH_DATA", str(tmp_path))
    monkeypatch.chdir("/")
    for expected in ("present", "altered"):
        assert main(["data", "--json"]) == 0
        (one,) = (o for o in json.loads(capsys.readouterr().out) if o["name"] == "bank")
        assert (one["state"], one["points"]) == (expected, 40)
        path.write_bytes(content[:-1])


def test_sets_are_listed_without_numpy(tmp_path: Path) -> None:
    heavy = "print([m for m in ('numpy', 'networkx', 'simpy', 'scipy') if m in sys.modules], file=sys.stderr)"
    told = hush_and(heavy, "data", cwd=tmp_path)
    assert told.returncode == 0, told.stderr
    assert told.stderr.splitlines()[-1] == "[]"


@needs_data("adult/adult.data")
@pytest.mark.slow
def test_the_published_files_are_told_to_be_so(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("HUSH_DATA", str(PUBLISHED))
    assert main(["data", "--json"]) == 0
    listed = {one["name"]: one for one in json.loads(capsys.readouterr().out)}
    assert listed["adult"]["state"] == "present"
    assert "altered" not in {one["state"] for one in listed.values()}
    assert (listed["adult"]["points"], listed["adult"]["features"]) == (45_222, 104)
    sums = dict(
        line.split("  ./")[::-1] for line in (PUBLISHED / "SHA256SUMS").read_text().splitlines()
    )
    for file in listed["adult"]["files"]:
        assert file["sha256"] == sums[f"adult/{file['name']}"]
