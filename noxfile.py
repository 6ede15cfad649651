"""The checks by name: `nox -s fast`, `nox -l` lists them.

nox makes an environment for each: `pip install nox` is all that they need. Everyday work in an environment of
one's own runs the same commands directly (CONTRIBUTING.md).
"""

from pathlib import Path

import nox

PYTHONS = ["3.11", "3.12", "3.13"]
SPREAD = ("-n", "auto", "--dist", "loadfile")
nox.needs_version = ">=2024.4"
nox.options.sessions = ["lint", "fast-3.11"]


@nox.session(python=PYTHONS)
def fast(session: nox.Session) -> None:
    """Run the tests that contributors run: all but the slow ones."""
    session.install("-e", ".[test]")
    session.run("python", "-m", "pytest", "-q", *SPREAD, "-m", "not slow", *session.posargs)


@nox.session(python=PYTHONS[0])
def all(session: nox.Session) -> None:  # noqa: A001 # its name on the command line
    """Run every test, every linter and the installed wheel, as before a release."""
    session.run(".ci/run", external=True)


@nox.session(python=PYTHONS[0])
def lint(session: nox.Session) -> None:
    """Run the linters, the type checker and the import contracts."""
    session.install("-e", ".[test,lint]")
    session.run("ruff", "check", ".")
    session.run("ruff", "format", "--check", ".")
    session.run("mypy")
    session.run("lint-imports")


@nox.session(python=PYTHONS[0])
def docs(session: nox.Session) -> None:
    """Write the pages that are made of code, run the commands of the others, and build the site."""
    session.install("-e", ".[test,docs]")
    for writer in sorted(Path("docs").glob("write_*.py")):
        session.run("python", str(writer))
    session.run("python", "docs/run_blocks.py", "--write")
    site = str(Path(session.create_tmp()) / "site")
    session.run("python", "-m", "sphinx", "-W", "-q", "-b", "html", "docs", site)
    names = ("citations", "documents", "gallery", "page_blocks", "reachable_pages", "reference_pages", "site")  # fmt: skip
    tests = [f"tests/test_{name}.py" for name in names]
    session.run("python", "-m", "pytest", "-q", *tests, env={"HUSH_SITE": site})


@nox.session(python=PYTHONS[0])
def bench(session: nox.Session) -> None:
    """Measure everything on this machine, beside bare loops and the kept baseline."""
    session.install("-e", ".[test]")
    session.run("python", "-m", "benchmarks", *session.posargs)
