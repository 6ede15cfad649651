"""Blocks of code in the pages, and what checks each: one `Way` for every way of checking.

A block that no way takes is a failure. What cannot be run stands in `NOT_RUN` with its reason; its commands are read
by hush's own parser all the same.
"""

import re
import shlex
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from tests.support.paths import ROOT

ROOT_PAGES = ("README.md", "CONTRIBUTING.md", "DECISIONS.md", "SECURITY.md")
SESSION_FOLDERS = ("docs/explanation/", "docs/how-to/", "docs/tutorials/")
SESSION_PAGES = ("README.md",)
"""Pages that a reader follows from the top: their commands are run in order, in one folder for each page."""

NOT_RUN: dict[tuple[str, str], str] = {
    ("README.md", "python3 -m venv .venv && .venv/bin/pip install -q . && .venv/bin/hush run"): (
        "it makes an environment: `.ci/run` does so with the next one, and runs what a wheel installs"
    ),
    (
        "README.md",
        "python3 -m venv .venv && .venv/bin/pip install -q -e '.[test]' && .venv/bin/python -m pytest -q -n auto --dist loadfile",
    ): "it is what runs the tests: `.ci/run` reads it from the page",
    ("docs/how-to/sweep-on-a-cluster.md", "# sweep.sh"): (
        "it needs Slurm; tests/scenarios/experiments/test_cluster.py runs a sweep on Dask workers"
    ),
    ("docs/how-to/pytest-and-ci.md", "# .github/workflows/scenarios.yml"): (
        "it needs a host that runs workflows; a test reads its commands"
    ),
    (
        "docs/data.md",
        "data      csv: 32,950 training points of 10 agents, 63 features; 8,238 common test points",
    ): ("a card of a published data set, Bank"),
    ("docs/data.md", 'source = "adult"'): "Adult is published elsewhere",
    (
        "docs/data.md",
        'source = "movielens"',
    ): "MovieLens is published elsewhere; tests/scenarios/planning/test_movielens.py runs it where it is",
    (
        "docs/experiments.md",
        'result.export("mlflow", "mlruns")',
    ): "MLflow and W&B take a gigabyte; nightly tests export to them",
    (
        "docs/architecture.md",
        "scenario file                    PLANNING                        RUNNING                          RECORDS",
    ): "a drawing",
    (
        "docs/architecture.md",
        "events                                          columns",
    ): "a drawing",
    (
        "docs/architecture.md",
        "def admit(rows: Sequence[tuple[Agent, Spend]]) -> list[Verdict]:",
    ): "the lines of a module; tests/test_architecture.py holds them",
    (
        "docs/architecture.md",
        "tests → hush → scenarios → actors → clocks | mechanisms          imports point to the right only",
    ): "a drawing; import-linter holds it",
}
"""Page and a line of a block that no test can run: why. Its commands are parsed, its TOML and Python read."""

_FILE = re.compile(r"# (add to )?([\w.-]+(?:/[\w.-]+)*\.(?:toml|py|csv|yml|sh))")
_FENCE = re.compile(r"^(?P<indent> *)(?P<marks>```+|~~~+)(?P<language>[^\n`]*)$")


@dataclass(frozen=True)
class Block:
    """A fenced block: `line` is that of its fence, `text` what is inside, `after` the block right above it."""

    page: str
    line: int
    language: str
    text: str
    after: "Block | None" = None

    @property
    def place(self) -> str:
        return f"{self.page}:{self.line}"

    @property
    def first(self) -> str:
        """Its first line that is not empty, without the blanks around it; "" of an empty block."""
        return next((line.strip() for line in self.text.split("\n") if line.strip()), "")

    @property
    def file(self) -> str | None:
        """The file that the reader saves it as, which its first line names; None: it is not saved."""
        named = _FILE.fullmatch(self.first)
        return named[2] if named else None

    @property
    def adds(self) -> bool:
        """Whether the reader adds it at the end of its file, which is there already."""
        named = _FILE.fullmatch(self.first)
        return named is not None and named[1] is not None


def pages() -> list[str]:
    """Return the pages that have blocks to check: those for users, by their paths below the root."""
    inside = sorted((ROOT / "docs").rglob("*.md"))
    return [*ROOT_PAGES, *(page.relative_to(ROOT).as_posix() for page in inside)]


def blocks(page: str, text: str | None = None) -> list[Block]:
    """Return the blocks of a page, or of `text` as if it were that page; a fence without an end raises ValueError."""
    lines = ((ROOT / page).read_text("utf-8") if text is None else text).split("\n")
    all_: list[Block] = []
    begin: re.Match[str] | None = None
    start, last_end = 0, -2
    for number, line in enumerate(lines, 1):
        fence = _FENCE.match(line)
        if begin is None:
            if fence:
                begin, start = fence, number
            elif line.strip():
                last_end = -2
        elif fence and not fence["language"].strip() and fence["marks"] == begin["marks"]:
            inside = "".join(
                one.removeprefix(begin["indent"]) + "\n" for one in lines[start : number - 1]
            )
            above = all_[-1] if last_end >= 0 else None
            all_.append(Block(page, start, begin["language"].strip(), inside, above))
            begin, last_end = None, number
    if begin is not None:
        raise ValueError(f"{page}:{start}: the block has no end")
    return all_


def not_run(block: Block) -> tuple[str, str] | None:
    """Return the entry of `NOT_RUN` that speaks of a block; None: it is run."""
    places = ((block.page, line.strip()) for line in block.text.split("\n"))
    return next((place for place in places if place in NOT_RUN), None)


def is_session(page: str) -> bool:
    """Tell whether the commands of a page are run from its top to its end."""
    return page in SESSION_PAGES or page.startswith(SESSION_FOLDERS)


@dataclass(frozen=True)
class Way:
    """One way of checking: which blocks it takes. The first that takes a block is its way."""

    name: str
    takes: Callable[[Block], bool]


def _output(block: Block) -> bool:
    above = block.after
    return (
        block.language == "text"
        and is_session(block.page)
        and above is not None
        and above.language in {"sh", "python"}
        and way(above) in {"run", "file"}
    )


WAYS = (
    Way("sphinx", lambda block: block.language.startswith("{")),
    Way("not run", lambda block: not_run(block) is not None),
    Way("recipe", lambda block: block.page == "docs/architecture.md" and block.language != "text"),
    Way("file", lambda block: is_session(block.page) and block.file is not None),
    Way("run", lambda block: is_session(block.page) and block.language in {"sh", "python"}),
    Way("output", _output),
    Way("parse", lambda block: block.language == "sh"),
    Way("script", lambda block: block.language == "python"),
    Way("scenario", lambda block: block.language == "toml"),
)


def way(block: Block) -> str | None:
    """Return how a block is checked; None: nothing checks it."""
    return next((one.name for one in WAYS if one.takes(block)), None)


def commands(text: str) -> Iterator[list[str]]:
    """Yield the simple commands of a piece of shell, as lists of words: `a b | c > d && e` has a b, c and e."""
    for line in text.replace("\\\n", " ").split("\n"):
        lexer = shlex.shlex(line, posix=True, punctuation_chars="();<>|&")
        lexer.whitespace_split = True
        words: list[str] = []
        to_file = False
        for word in lexer:
            if set(word) <= set("();|&"):
                yield from [words] if words else []
                words = []
            elif set(word) <= set("<>&"):
                to_file = True
            elif to_file:
                to_file = False
            else:
                words.append(word)
        yield from [words] if words else []


@cache
def library() -> frozenset[str]:
    """Return the names of the library's scenarios."""
    folder = ROOT / "scenarios/library"
    return frozenset(
        path.relative_to(folder).with_suffix("").as_posix() for path in folder.rglob("*.toml")
    )


def problem_of(words: list[str]) -> str | None:
    """Return what is wrong with a command of a page; None: nothing."""
    while words and re.fullmatch(r"[A-Za-z_]+=.*", words[0]):
        words = words[1:]
    if not words:
        return None
    program = words[0].removeprefix("$ ").rsplit("/", 1)[-1]
    if program == "hush":
        return _hush(["1" if word.startswith("$") else word for word in words[1:]])
    if program in {"python", "python3"}:
        return _python(words[1:])
    return None if program in OTHER_PROGRAMS else f"{program}: no test knows this program"


OTHER_PROGRAMS = {
    "echo", "grep", "head", "less", "mv", "pip", "pytest", "sed", "sleep", "srun", "true",
}  # fmt: skip
"""Programs of the pages that are not hush's, and that a reader has."""


def _hush(words: list[str]) -> str | None:
    """Read the words after `hush` as the command itself does."""
    import contextlib
    import io

    from scenarios.command.arguments import parse

    said = io.StringIO()
    try:
        with contextlib.redirect_stderr(said), contextlib.redirect_stdout(io.StringIO()):
            read = parse(words)
    except SystemExit as end:
        return None if end.code == 0 else " ".join(said.getvalue().split())
    named = getattr(read, "scenario", None) or []
    named = [named] if isinstance(named, str) else named
    unknown = [
        one
        for one in named
        if one not in library()
        and not re.search(r"[./:$*]", one)
        and one not in {"-", "latest"}
        and not one.isupper()
    ]
    return f"no scenario of the library is called {', '.join(unknown)}" if unknown else None


def _python(words: list[str]) -> str | None:
    """See whether the module or the file that Python is to run is there."""
    if words[:1] == ["-m"]:
        known = words[1] in {"pytest", "venv", "sphinx", "pip", "build", "http.server"}
        return (
            None
            if known or (ROOT / words[1].replace(".", "/")).exists()
            else f"no module {words[1]}"
        )
    named = [word for word in words if word.startswith(("docs/", "tests/", "benchmarks/"))]
    lost = [word for word in named if not (ROOT / word).exists()]
    return f"{lost[0]} is not there" if lost else None


_INLINE = re.compile(r"(?<!`)`hush ([^`\n]+)`(?!`)")
_OPEN = re.compile(r"[\[\]…|{}⟨⟩]|\\\|")


def inline_commands(text: str) -> Iterator[tuple[int, list[str]]]:
    """Yield the line and the words of `hush …` in running text; of a pattern with [ ] or … its first words alone."""
    fenced = False
    for number, line in enumerate(text.split("\n"), 1):
        if _FENCE.match(line):
            fenced = not fenced
        elif not fenced:
            for match in _INLINE.finditer(line):
                command = match[1].replace(r"\|", "|")
                pattern = _OPEN.search(command)
                if pattern:
                    command = command[: pattern.start()].split(" ")[0]
                yield from ((number, words) for words in [*commands(command)][:1])


_PLACES = {"SEQ": "1", "N": "1", "I": "1", "VERB": "run"}
"""What a name in capitals stands for, where hush reads something else than any text."""


_ADDED_BY_RECIPES = {"seeds"}
"""Verbs that a recipe of docs/architecture.md adds, and only there."""


def inline_problem(words: list[str]) -> str | None:
    """Return what is wrong with a command that stands in running text, where arguments may be left out or be NAMES."""
    found = _hush([_PLACES.get(word, word) for word in words])
    left_out = found is not None and ": needs " in found
    added = words[0] in _ADDED_BY_RECIPES
    return None if left_out or added else found


def page_text(page: str) -> str:
    """Return a page as it is."""
    return Path(ROOT / page).read_text("utf-8")
