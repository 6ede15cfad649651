"""Write docs/reference/python.md from the docstrings of what `hush` offers.

python docs/write_python.py
"""

import ast
import inspect
import textwrap
from functools import cached_property
from pathlib import Path
from typing import Any

import hush
from scenarios.api.columns import Columns
from scenarios.api.opened_folder import OpenedFolder
from scenarios.api.result import Result
from scenarios.api.runs import Checked, make_plan
from scenarios.api.sweep_result import Sweep
from scenarios.language.problems import ScenarioError
from scenarios.records.folder_error import FolderError
from scenarios.records.reader import RunRecord
from scenarios.records.sweep_record import Row, SweepRecord

PAGE = Path(__file__).parent / "reference/python.md"

HEAD = """# The Python interface

Every name of the package `hush`, and the classes of what its functions return. Written by `docs/write_python.py` from the docstrings; a test holds the two
together. [reference.md, 7](../reference.md#7-from-python) has it in short. Names that do not stand here may change in any version.

```python
from hush import check, run_sync

assert check("ring5-dropout").ok
result = run_sync("ring5-dropout", seed=7)
print(result.summary["epsilon"]["max"], result.summary["verdict"])
```
"""

RETURNED: tuple[tuple[type[Any], type[Any] | None], ...] = (
    (Result, RunRecord),
    (Sweep, SweepRecord),
    (Row, None),
    (Columns, None),
    (Checked, None),
)
"""The classes of what functions return, and the class whose members they inherit beside those of a folder."""
INHERITED = {
    RunRecord: ("status", "ended", "curves", "data_card", "resolved", "resolved_file"),
    SweepRecord: ("axes", "flaws", "rows", "chosen"),
}
"""What of an inherited class a script may use."""
OPTIONS_OF: dict[str, Any] = {"check": make_plan, "run_sync": hush.run}
"""Functions that hand their options on, and the function that says what they are."""
ERRORS = (ScenarioError, FolderError)


def page() -> str:
    """Return the whole page."""
    names = [name for name in sorted(hush.__all__, key=str.lower) if name != "__version__"]
    parts = [HEAD, "## Functions\n"]
    functions = [name for name in names if inspect.isfunction(getattr(hush, name))]
    for name in functions:
        parts.append(_function(name, getattr(hush, name)))
        if OPTIONS_OF.get(name) is make_plan:
            parts.append(_paragraphs(make_plan).partition("\n\n")[2] + "\n")
    parts.append("## What they return\n")
    parts += [_class(kind, base) for kind, base in RETURNED]
    parts.append("## Errors and warnings\n")
    errors = [*ERRORS, *(getattr(hush, n) for n in names if inspect.isclass(getattr(hush, n)))]
    parts += [f"### `{e.__name__}`\n\n{_paragraphs(e)}\n\n{_home(e)}\n" for e in errors]
    parts.append("## The version\n\n`hush.__version__` is the version of the package, a text.\n")
    return "\n".join(parts)


def _home(kind: type[Any]) -> str:
    """Say from where an error is imported, and what it is a kind of."""
    base = kind.__mro__[1].__name__
    where = "hush" if kind.__name__ in hush.__all__ else kind.__module__
    return f"A kind of `{base}`; `from {where} import {kind.__name__}`."


def _function(name: str, function: Any) -> str:
    return f"### `{name}`\n\n{_signature(function)}\n\n{_paragraphs(function)}\n"


def _class(kind: type[Any], base: type[Any] | None) -> str:
    """Return what is said of a class: its docstring, then its members in the order of their names."""
    lines = [f"### Class `{kind.__name__}`", "", _paragraphs(kind), ""]
    members = {n: m for n, m in vars(kind).items() if not n.startswith("_")}
    if issubclass(kind, OpenedFolder):
        members |= {n: m for n, m in vars(OpenedFolder).items() if not n.startswith("_")}
    if base is not None:
        members |= {n: vars(base)[n] for n in INHERITED[base] if n not in members}
    attributes = _attributes(kind)
    for name in sorted(members.keys() | attributes.keys()):
        if name in attributes:
            lines += [f"- **`{name}`** {attributes[name]}"]
            continue
        member = members[name]
        if isinstance(member, (property, cached_property)):
            lines.append(f"- **`{name}`** {_one_line(member)}")
        elif inspect.isfunction(member):
            lines.append(f"- **`{name}({_arguments(member)})`** {_one_line(member)}")
    return "\n".join([*lines, ""])


def _attributes(kind: type[Any]) -> dict[str, str]:
    """Return what the source says of the attributes of a class: the text below each."""
    tree = ast.parse(textwrap.dedent(inspect.getsource(kind))).body[0]
    assert isinstance(tree, ast.ClassDef)  # noqa: S101 # the source of a class is one
    words = {}
    for line, below in zip(tree.body, tree.body[1:], strict=False):
        if not (isinstance(line, ast.AnnAssign) and isinstance(line.target, ast.Name)):
            continue
        if isinstance(below, ast.Expr) and isinstance(below.value, ast.Constant):
            words[line.target.id] = " ".join(str(below.value.value).split())
    return words


def _tree(function: Any) -> ast.FunctionDef | ast.AsyncFunctionDef:
    """Return the source of a function as a tree; of a decorated one that of the function inside."""
    source = textwrap.dedent(inspect.getsource(inspect.unwrap(function)))
    tree = ast.parse(source).body[0]
    assert isinstance(tree, (ast.FunctionDef, ast.AsyncFunctionDef))  # noqa: S101
    return tree


def _signature(function: Any) -> str:
    """Return the head of a function as its source has it, an option a line."""
    tree, own = _tree(OPTIONS_OF.get(function.__name__, function)), _tree(function)
    word = "async def" if isinstance(own, ast.AsyncFunctionDef) else "def"
    arguments = [_spaced(part.strip()) for part in _split(ast.unparse(tree.args))]
    returns = f" -> {ast.unparse(own.returns)}" if own.returns is not None else ""
    one = f"{word} {own.name}({', '.join(arguments)}){returns}: ..."
    if len(one) > 96:
        inside = "".join(f"    {part},\n" for part in arguments)
        one = f"{word} {own.name}(\n{inside}){returns}: ..."
    return "\n".join(f"    {line}" for line in one.split("\n"))


def _arguments(function: Any) -> str:
    """Return the arguments of a method without self and types."""
    tree = _tree(function).args
    for argument in (*tree.posonlyargs, *tree.args, *tree.kwonlyargs):
        argument.annotation = None
    for many in (tree.vararg, tree.kwarg):
        if many is not None:
            many.annotation = None
    return ast.unparse(tree).removeprefix("self").lstrip(", ")


def _spaced(argument: str) -> str:
    """Return an argument that has a type with spaces around its `=`."""
    name, equals, default = argument.partition("=")
    return f"{name} = {default}" if equals and ":" in name else argument


def _split(arguments: str) -> list[str]:
    """Split a list of arguments at its commas, but for those inside of brackets and quotes."""
    parts, depth = [""], 0
    for letter in arguments:
        depth += (letter in "([{") - (letter in ")]}")
        if letter == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += letter
    return parts


def _one_line(member: Any) -> str:
    """Return a docstring as one line of a list, its paragraphs one after the other."""
    return " ".join(_paragraphs(member).split())


def _paragraphs(thing: Any) -> str:
    """Return a docstring as paragraphs of one line each."""
    text = inspect.getdoc(thing)
    if text is None:
        raise ValueError(f"{thing!r} has no docstring")
    return "\n\n".join(" ".join(part.split()) for part in text.split("\n\n"))


if __name__ == "__main__":
    PAGE.parent.mkdir(exist_ok=True)
    PAGE.write_text(page(), "utf-8")
