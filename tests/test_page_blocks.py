"""Every block of code in the pages is checked: run, compared with its output, judged or at least read by hush's parser."""

import importlib.util
import re
import subprocess
import sys
import tomllib
from pathlib import Path
from types import ModuleType

import pytest

from tests.support.command import hush
from tests.support.page_blocks import (
    NOT_RUN,
    OTHER_PROGRAMS,
    WAYS,
    Block,
    blocks,
    commands,
    inline_commands,
    inline_problem,
    is_session,
    not_run,
    page_text,
    pages,
    problem_of,
    way,
)
from tests.support.page_sessions import (
    VOLATILE,
    agree,
    alike,
    differences,
    reader_folder,
    renewed,
    rewritten,
)
from tests.support.paths import ROOT
from tests.support.reader_environment import installed, needed

ALL = [block for page in pages() for block in blocks(page)]
SESSIONS = [page for page in pages() if is_session(page)]

BASE = 'schema = 1\nextends = "library:quickstart"\n'
OWN = """schema = 1
nodes = [{ count = 4 }]
mechanism = { kind = "cd", mu = 1 }
task = { l2 = "1/m" }
data = { source = "blobs", validation = 0.2 }
"""
BASES = {
    "docs/data.md": OWN,
    "docs/faults.md": BASE + 'run = { horizon = "10m" }\n',
    "docs/experiments.md": OWN,
}
"""What a piece of a scenario on a page is added to, where it is not the quickstart."""

PEOPLE = "name,sex,age,hours,income\n" + "".join(
    f"p{n},{('Female', 'Male')[n % 2]},{20 + n % 70},{n % 99},{('<=50K', '>50K')[n % 3 == 0]}\n"
    for n in range(400)
)
FILES = {"docs/data.md": {"people.csv": PEOPLE}}
"""Files that the pieces of scenarios of a page read."""

BEFORE = {
    "docs/data.md": """
import numpy as np
import pandas as pd
from sklearn.datasets import load_breast_cancer

draw = np.random.default_rng(0)
X = draw.uniform(-0.5, 0.5, (200, 3))
y = np.where(X[:, 0] > 0, 1, -1)
people = pd.DataFrame({"name": [f"p{n}" for n in range(200)], "age": X[:, 1], "income": y})
""",
    "docs/experiments.md": """
import matplotlib

matplotlib.use("agg")
from matplotlib import pyplot
from hush import run_sync, sweep

result = run_sync("ring5-dropout")
axes = pyplot.figure().subplots()
sweep(
    "wddp-as-printed",
    grid={"nodes.all.budget.epsilon": [1, 2], "mechanism.kind": ["wddp"]},
    seeds=range(2),
    out="runs/adult",
)
""",
}
"""What the Python of a page takes as given: the reader's own arrays, an earlier run."""


def script(name: str) -> ModuleType:
    """Import a program of docs/."""
    spec = importlib.util.spec_from_file_location(name, ROOT / f"docs/{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def by_way(name: str) -> list[Block]:
    return [block for block in ALL if way(block) == name]


def on_pages(name: str) -> list[str]:
    return list(dict.fromkeys(block.page for block in by_way(name)))


def test_every_block_is_checked_in_some_way() -> None:
    lost = [f"{b.place}: ```{b.language} is checked by nothing" for b in ALL if way(b) is None]
    assert lost == []


def test_a_block_that_nothing_checks_is_found() -> None:
    for text in ("```\nhush run\n```\n", "```console\n$ hush\n```\n", "```text\nout\n```\n"):
        assert way(blocks("docs/how-to/new.md", text)[0]) is None
    with pytest.raises(ValueError, match="has no end"):
        blocks("docs/new.md", "```sh\nhush run\n")


def test_the_table_of_what_is_not_run_names_blocks_that_are_there() -> None:
    assert {not_run(block) for block in by_way("not run")} == set(NOT_RUN)


def test_every_way_of_checking_has_a_block() -> None:
    assert {one.name for one in WAYS} == {way(block) for block in ALL}


def test_every_command_of_every_page_is_one_that_hush_reads() -> None:
    wrong = [
        f"{block.place}: {' '.join(words)}: {problem}"
        for block in ALL
        if block.language == "sh"
        for words in commands(block.text)
        if (problem := problem_of(words))
    ]
    assert wrong == []


def test_every_command_in_running_text_is_one_that_hush_reads() -> None:
    wrong = [
        f"{page}:{line}: hush {' '.join(words)}: {problem}"
        for page in pages()
        for line, words in inline_commands(page_text(page))
        if (problem := inline_problem(words))
    ]
    assert wrong == []


def test_the_commands_of_a_workflow_are_ones_that_exist() -> None:
    steps = [
        step
        for block in ALL
        if block.language == "yaml"
        for step in re.findall(r"- run: (.+)", block.text)
    ]
    assert steps
    assert [problem_of(words) for step in steps for words in commands(step)] == [None] * len(steps)


@pytest.mark.parametrize(
    ("command", "said"),
    [
        ("hush run quickstart --twise", "twise"),
        ("hush rum quickstart", "rum"),
        ("hush run quickstrat", "quickstrat"),
        ("python docs/write_nothing.py", "not there"),
        ("python -m benchmark", "no module"),
        ("frobnicate", "no test knows"),
    ],
)
def test_a_command_that_does_not_exist_is_found(command: str, said: str) -> None:
    (words,) = commands(command)
    assert said in (problem_of(words) or "")


def test_every_program_that_is_known_stands_on_a_page() -> None:
    used = {
        words[0].rsplit("/", 1)[-1]
        for block in ALL
        if block.language in {"sh", "yaml"}
        for words in commands(block.text.replace("- run: ", "\n"))
    }
    assert used >= OTHER_PROGRAMS


def test_commands_are_taken_apart_as_a_shell_does() -> None:
    text = "a 'b c' | d > out.txt && e --x=1 \\\n  f  # a remark\n\ng || h; i"
    assert list(commands(text)) == [["a", "b c"], ["d"], ["e", "--x=1", "f"], ["g"], ["h"], ["i"]]


@pytest.mark.parametrize("block", by_way("scenario"), ids=lambda block: block.place)
def test_every_scenario_on_a_page_is_accepted(block: Block, tmp_path: Path) -> None:
    whole = "schema =" in block.text
    for name, text in FILES.get(block.page, {}).items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    base = "" if whole else BASES.get(block.page, BASE)
    keys = set(tomllib.loads(block.text))
    kept = [line for line in base.split("\n") if line.split(" ")[0] not in keys]
    (tmp_path / "world.toml").write_text("\n".join(kept) + "\n" + block.text, encoding="utf-8")
    judged = hush("check", "./world.toml", cwd=tmp_path)
    assert judged.returncode == 0, judged.stdout + judged.stderr


def test_toml_and_python_that_cannot_be_run_can_be_read() -> None:
    for block in by_way("not run"):
        if block.language == "toml":
            tomllib.loads(block.text)
        elif block.language == "python":
            compile(block.text, block.place, "exec")
        else:
            assert block.language in {"sh", "text", "yaml"}, block.place


def test_every_recipe_of_the_architecture_page_is_followed_by_its_own_test() -> None:
    from tests.test_recipes import recipes

    followed = {text for recipe in recipes() for text in recipe.scenarios} | {
        f"# {path}\n{text}" for recipe in recipes() for path, text in recipe.files.items()
    }
    assert [block.place for block in by_way("recipe") if block.text not in followed] == []


@pytest.mark.slow
@pytest.mark.parametrize("page", on_pages("script"))
def test_the_python_of_a_page_runs(page: str) -> None:
    parts = [("before", 0, BEFORE.get(page, ""))] + [
        (block.place, block.line, block.text) for block in by_way("script") if block.page == page
    ]
    program = "names = {'__name__': 'page'}\n" + "".join(
        f"exec(compile({chr(10) * line + text!r}, {place!r}, 'exec'), names)\n"
        for place, line, text in parts
    )
    with reader_folder(page_text(page)) as (folder, environment):
        done = subprocess.run(
            ["python", "-c", program],
            cwd=folder,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.slow
@pytest.mark.parametrize("page", SESSIONS)
def test_a_page_that_is_followed_from_its_top_shows_what_is_printed(page: str) -> None:
    found = differences(page)
    told = "\n".join(f"{one.place}: {one.why}" for one in found)
    assert not found, f"{told}\n\npython docs/run_blocks.py --write {page} writes it anew"


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("no line", {"hush-sim"}),
        ("`pip install -q .`", {"hush-sim"}),
        ("```sh\npip install -q '.[plot]' && hush run\n```", {"hush-sim", "hush-sim[plot]"}),
        ("- run: pip install hush-sim pytest\n- run: pytest", {"hush-sim", "pytest"}),
        (".venv/bin/pip install -q -e '.[test,lint]'", {"hush-sim"}),
    ],
)
def test_an_install_line_says_what_a_reader_has(text: str, wanted: set[str]) -> None:
    assert installed(text) == wanted


def test_a_page_uses_what_its_install_line_makes_and_nothing_else() -> None:
    """The README's Python used pandas, which its own environment does not have."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    here = needed({"hush-sim"})
    assert {re.split("[>=]", one)[0] for one in project["dependencies"]} <= set(here)
    assert not {"pandas", "matplotlib", "pytest", "numba", "polars"} & set(here)
    code = "```python\nimport numpy, hush\nimport pandas\n```"
    (without,) = differences("docs/how-to/new.md", code)
    assert "No module named 'pandas'" in without.why
    assert differences("docs/how-to/new.md", f"`pip install pandas`\n\n{code}") == []


def page_of(*parts: str) -> str:
    return "\n".join(parts) + "\n"


WRONG = page_of("# A page", "", "```sh", "echo one; echo two; echo three", "```", "", "```text", "one", "…", "four", "```", "", "after")  # fmt: skip


def test_an_output_that_is_not_printed_is_found_and_written_anew() -> None:
    (one,) = differences("docs/how-to/new.md", WRONG)
    assert one.place == "docs/how-to/new.md:7"
    assert "-four" in one.why
    assert "+three" in one.why
    right = rewritten(WRONG, [one])
    assert right == WRONG.replace("four", "three")
    assert differences("docs/how-to/new.md", right) == []


def test_a_command_that_fails_and_a_traceback_are_found() -> None:
    text = page_of("```sh", "hush check nothing-of-this-name", "```")
    (one,) = differences("docs/how-to/new.md", text)
    assert "ended with 2" in one.why
    text = page_of("```sh", "python3 -c 1/0 || true", "```")
    (one,) = differences("docs/how-to/new.md", text)
    assert "traceback" in one.why


def test_files_of_a_page_are_saved_and_added_to() -> None:
    text = page_of("```toml", "# a.toml", "x = 1", "```", "", "```toml", "# add to a.toml", "y = 2", "```", "", "```sh", "grep -c = a.toml", "```", "", "```text", "2", "```")  # fmt: skip
    assert differences("docs/how-to/new.md", text) == []


@pytest.mark.parametrize("rule", VOLATILE, ids=lambda rule: rule.name)
def test_what_may_differ_is_compared_as_the_same(rule: object) -> None:
    from tests.support.page_sessions import Rule

    assert isinstance(rule, Rule)
    assert alike(rule.example) != rule.example
    assert alike(alike(rule.example)) == alike(rule.example)
    digits = (
        re.sub(r"\d(?!\d*[+-]?$)", "7", rule.example) if "e-" not in rule.example else rule.example
    )
    assert rule.pattern.search(digits)


@pytest.mark.parametrize(
    ("shown", "printed", "same"),
    [
        ("a b c", "a b c", True),
        ("a … c", "a x y c", True),
        ("a … c", "a c", True),
        ("… c", "c", True),
        ("a …", "b", False),
        ("a … b … c", "a b x c", True),
        ("a … b … c", "a c", False),
        ("a", "a b", False),
    ],
)
def test_dots_stand_for_any_lines(shown: str, printed: str, same: bool) -> None:  # noqa: FBT001
    assert agree(shown.split(), printed.split()) is same


def test_lines_that_differ_in_volatile_parts_alone_stay_as_they_are() -> None:
    shown = ["runs/a  (0.10 s, 5 updates/s)", "ε 4"]
    printed = ["runs/a  (9.99 s, 9 updates/s)", "ε 5"]
    assert renewed(shown, shown) == shown
    assert renewed(shown, printed) == [shown[0], "ε 5"]
    assert renewed(["x", "…", "x"], ["1", "2", "3", "4"]) == ["1", "…", "4"]


def test_what_a_page_leaves_out_is_found_by_the_lines_beside_it() -> None:
    printed = ["a 1", "new", "b 2", "c", "c", "d 3", "e"]
    assert renewed(["a 0", "b 0", "…"], printed) == ["a 1", "new", "b 2", "…"]
    assert renewed(["…", "d 0", "x"], printed) == ["…", "d 3", "e"]
    assert renewed(["a 0", "…", "b 9", "…", "e"], printed) == ["a 1", "…", "b 2", "…", "e"]
    with pytest.raises(ValueError, match="by hand"):
        renewed(["a 0", "…", "gone", "…", "e"], printed)


def test_the_script_that_runs_pages_refuses_a_page_without_commands() -> None:
    done = subprocess.run(
        [sys.executable, str(ROOT / "docs/run_blocks.py"), "docs/theory.md"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2
    assert "no page with commands" in done.stderr
    assert callable(script("run_blocks").main)
