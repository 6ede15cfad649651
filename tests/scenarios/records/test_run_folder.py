"""One folder, one owner: of several that ask for a name at once, one gets it; the others count on, or are told."""

import json
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from scenarios.records import run_folder
from scenarios.records.file_guard import FolderError
from scenarios.records.reader import RunRecord
from scenarios.records.run_folder import RunFolder, choose, lock_folder, numbers
from tests.support.builders import perform, private
from tests.support.command import hush, start

MANY = 8


def race(act: Callable[[int], Any], many: int = MANY) -> list[Any]:
    """Let threads act at the same instant; return what each returned or raised."""
    barrier, found = threading.Barrier(many), list[Any]([None] * many)

    def run(i: int) -> None:
        barrier.wait()
        try:
            found[i] = act(i)
        except FolderError as error:
            found[i] = error

    threads = [threading.Thread(target=run, args=(i,)) for i in range(many)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return found


def test_each_gets_a_number_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    found = race(lambda _: choose("world", 7, None))
    assert {str(path) for path in found} == {f"runs/world-7-{n}" for n in range(1, MANY + 1)}
    assert choose("world", 7, None) == Path(f"runs/world-7-{MANY + 1}")


def test_one_has_the_folder_that_all_ask_for(tmp_path: Path) -> None:
    """Whether it is there and empty, or not there yet."""
    (tmp_path / "empty").mkdir()
    for name in ("empty", "new"):
        out = tmp_path / name

        def take(i: int, out: Path = out) -> int:
            RunFolder(choose("world", 7, str(out)), {"mine": i})
            return i

        found = race(take)
        winners = [one for one in found if isinstance(one, int)]
        assert len(winners) == 1
        assert json.loads((out / "manifest.json").read_text()) == {"mine": winners[0]}
        assert all("nothing was written" in str(one) for one in found if one not in winners)


def test_one_at_a_time_works_in_a_held_folder(tmp_path: Path) -> None:
    """Those that may count on do; where a folder was named, they are told that it is in use."""
    done = threading.Barrier(MANY)

    def count_on(_: int) -> Path:
        with lock_folder(numbers(str(tmp_path / "sweep")), new=True) as path:
            done.wait()
            return path

    assert len(set(race(count_on))) == MANY

    def ask(_: int) -> Path:
        try:
            with lock_folder([tmp_path / "asked"]) as path:
                done.wait()
                return path
        except FolderError:
            done.wait()
            raise

    found = race(ask)
    assert sum(isinstance(one, Path) for one in found) == 1
    said = [str(one) for one in found if isinstance(one, FolderError)]
    assert len(said) == MANY - 1
    assert all("is in use: another hush works in it" in text for text in said)
    with lock_folder([tmp_path / "asked"]) as path:
        assert path == tmp_path / "asked", "it is free again"


def test_a_folder_made_for_nothing_goes_and_one_that_was_there_stays(tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    for name, stays in (("new", False), ("mine", True)):
        with pytest.raises(KeyboardInterrupt), lock_folder([tmp_path / name]):
            raise KeyboardInterrupt
        assert (tmp_path / name).exists() is stays


def test_a_folder_that_is_none_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("mine")
    with pytest.raises(FolderError, match="is not a folder"), lock_folder([tmp_path / "file"]):
        pass
    with pytest.raises(FolderError), lock_folder([tmp_path / "file" / "below"]):
        pass
    with pytest.raises(FolderError):
        run_folder.numbered(str(tmp_path / "file" / "run"))
    assert (tmp_path / "file").read_text() == "mine"


@pytest.mark.slow
def test_commands_that_run_at_once_leave_a_folder_each(tmp_path: Path) -> None:
    """Four runs, of one seed, in one folder: four numbers, four manifests, every checksum right."""
    running = [
        start("run", "ring5-dropout", "--quiet", "--seed", "7", cwd=tmp_path) for _ in range(4)
    ]
    assert [process.wait(timeout=120) for process in running] == [0] * 4
    found = sorted((tmp_path / "runs").iterdir())
    assert [path.name for path in found] == [f"ring5-dropout-7-{n}" for n in range(1, 5)]
    assert [list(RunRecord(path).flaws) for path in found] == [[]] * 4


@pytest.mark.slow
def test_verbs_keep_out_of_a_folder_in_which_another_works(tmp_path: Path) -> None:
    """Without --out they count on; with it they are told."""
    with lock_folder([tmp_path / "swarm"]):
        swarm = ("test", "--swarm", "1", "--seeds", "3", "--keep")
        assert hush(*swarm, cwd=tmp_path).returncode == 0
        assert [p.name for p in (tmp_path / "swarm-2").iterdir()] == ["world-3-0.toml"]
        for words in (
            swarm,
            ("sweep", "ring5-dropout", "--seeds", "1"),
            ("audit", "ring5-dropout"),
        ):
            done = hush(*words, "--out", "swarm", cwd=tmp_path)
            assert done.returncode == 2, words
            assert "swarm is in use: another hush works in it" in done.stderr
        assert list((tmp_path / "swarm").iterdir()) == []


@pytest.mark.slow
def test_a_run_that_cannot_be_built_leaves_no_folder(tmp_path: Path) -> None:
    ran = perform(private(), tmp_path)
    with pytest.raises(FolderError, match="holds a run already"):
        RunFolder(ran.outcome.folder, {})
    assert list(RunRecord(ran.outcome.folder).flaws) == []
    done = hush("run", "ring5-dropout", "--out", str(ran.outcome.folder))
    assert done.returncode == 2
    assert "nothing was written" in done.stderr
