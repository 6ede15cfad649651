"""A scenario as its author wrote it: files, what they extend, and what `--set` changes."""

import tomllib
from collections.abc import Mapping
from copy import deepcopy
from dataclasses import dataclass, field, replace
from pathlib import Path as FilePath
from typing import Any, NamedTuple

from scenarios.language.links import followed
from scenarios.language.positions import LONGEST_FILE, Path, Spot, locate
from scenarios.language.problems import Problem, Report, ScenarioError, nearest, shown

OF_A_RUN = "manifest.json"
"""The file by which the folder of a run is known. It is named here for what must load nothing else."""
LIBRARY = FilePath(__file__).parent.parent / "library"
_MOST_EXTENDED = 8


class Piped(str):
    """The word `-` of a command line, with the scenario that standard input held in its place.

    It goes wherever the name of a scenario goes, into other processes, too.
    """

    text: str
    """The scenario."""
    FILE = "<stdin>"
    """What problems call the text."""

    def __new__(cls, text: str) -> "Piped":
        word = super().__new__(cls, "-")
        word.text = text
        return word

    def __reduce__(self) -> tuple[type["Piped"], tuple[str]]:
        return type(self), (self.text,)


class Replaced(NamedTuple):
    """A table whose kind `--set` changed: what it was, and the keys that fell with it."""

    path: Path
    was: str
    now: str
    keys: dict[str, Any]


@dataclass(slots=True)
class Draft:
    """A raw tree with the spot of every key and value."""

    tree: dict[str, Any]
    keys: dict[Path, Spot]
    values: dict[Path, Spot]
    replaced: list[Replaced] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Source:
    """A scenario as its author wrote it: its text, its folder, and the tree with what it extends and `--set` on top.

    `file` is what problems call it.
    """

    name: str
    text: str
    folder: FilePath
    file: str
    draft: Draft = field(repr=False)

    @property
    def tree(self) -> dict[str, Any]:
        """The values as they are written."""
        return self.draft.tree

    def report(self) -> Report:
        """Return a report of problems that knows the places of this source."""
        return Report(self.draft.keys, self.draft.values, self.file)


def library_names() -> list[str]:
    """Return the names of the scenarios that come with hush."""
    paths = (path.relative_to(LIBRARY) for path in LIBRARY.rglob("*.toml"))
    return sorted(path.with_suffix("").as_posix() for path in paths)


def beside(folder: FilePath, name: str) -> FilePath | None:
    """Return a scenario file of a folder; nothing outside of it."""
    if "\0" in name or len(name) > 1000:
        return None
    path = followed(folder / name)
    return path if path.is_relative_to(followed(folder)) and path.is_file() else None


def find(scenario: str) -> FilePath:
    """Return the file of a library name or a path; `./x` forces a path."""
    if scenario in library_names():
        return LIBRARY / f"{scenario}.toml"
    path = FilePath(scenario)
    if path.is_file():
        return path
    if path.suffix == ".toml" or "/" in scenario:
        why = "is not a file" if path.exists() else "no such file"
        raise ScenarioError([Problem(shown(scenario).strip('"'), why)])
    hint = nearest(scenario, library_names())
    raise ScenarioError([Problem("", f"no scenario '{scenario}' in the library; {hint}")])


def read_text(path: FilePath) -> str:
    """Read a scenario file; too large or not text is refused."""
    try:
        with path.open("rb") as file:
            data = file.read(LONGEST_FILE + 1)
    except OSError as error:
        raise ScenarioError([Problem(str(path), f"cannot be read: {error.strerror}")]) from None
    return text_of(data, str(path))


def text_of(data: bytes, name: str) -> str:
    """Return the bytes of a scenario file as text; too many, or no text, are refused."""
    if len(data) > LONGEST_FILE:
        raise ScenarioError([Problem(name, "a scenario file has at most 1 MiB")])
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ScenarioError([Problem(name, f"must be UTF-8: {error.reason}")]) from None


def parse(text: str, file: str, *, quotes: bool = True) -> Draft:
    """Scan, then parse. What the scanner refuses never reaches the parser.

    Without `quotes`, no problem quotes a line of the text.
    """
    located = locate(text, file, quotes=quotes)
    if located.refused is not None:
        spot, why = located.refused
        raise ScenarioError([Problem("", why, spot)])
    try:
        tree = tomllib.loads(text[: located.end])
    except (tomllib.TOMLDecodeError, ValueError, RecursionError) as error:
        message = str(error)
    else:
        if located.end == len(text):
            return Draft(tree, located.keys, located.values)
        message = "cannot be read from here on"
    raise ScenarioError([_syntax(message, text[: located.end], file, quotes=quotes)])


def _syntax(message: str, text: str, file: str, *, quotes: bool) -> Problem:
    """Turn the parser's own message into a problem with a spot."""
    import re

    lines = text.split("\n")
    match = re.search(r" ?\(at line (\d+), column (\d+)\)", message)
    line, column = (int(match[1]), int(match[2])) if match else (len(lines), len(lines[-1]) + 1)
    reason = message.replace(match.group(), "") if match else message
    reason = reason.replace(" (at end of document)", ": the file ends too early")
    line = min(line, len(lines))
    quoted = lines[line - 1] if quotes else ""
    return Problem("", f"not valid TOML: {reason}", Spot(file, line, column, quoted))


def read_source(
    scenario: str | FilePath | Mapping[str, Any],
    settings: Mapping[str, Any] | None = None,
    *,
    named: bool = True,
) -> Source:
    """Read a library name, a file, a plain dict or what was piped in, with what it extends and `--set` on top.

    Files that a piped scenario names are relative to the working folder. `named` says that the user named the file: of files that only another file names, as it names what
    it extends or is compared with, no problem quotes a line. `[origin] folder`, the folder that paths
    are relative to, is believed in the `resolved.toml` of a run's folder and nowhere else: any other
    file could point it at what its author cannot read.
    """
    origin: Any = None
    if isinstance(scenario, Mapping):
        from scenarios.language.writer import to_toml  # a dict is kept as the text it stands for

        folder, name, file = FilePath.cwd(), "unnamed", "scenario"
        try:
            text = to_toml(dict(scenario))
        except (TypeError, AttributeError) as error:
            raise ScenarioError(
                [Problem("scenario", f"must be tables of TOML values: {error}")]
            ) from None
        draft = Draft(parse(text, "scenario").tree, {}, {})
    elif isinstance(scenario, Piped):
        folder, name, text, file = FilePath.cwd(), "stdin", scenario.text, Piped.FILE
        draft = parse(text, file, quotes=named)
    else:
        path = find(str(scenario)) if not isinstance(scenario, FilePath) else scenario
        folder, name, text = path.parent.resolve(), path.stem, read_text(path)
        file = _display(path)
        draft = parse(text, file, quotes=named)
        if path.name == "resolved.toml" and (path.parent / OF_A_RUN).is_file():
            origin = draft.tree.get("origin")
    draft = _extend(draft, folder, 0)
    if isinstance(origin, dict) and isinstance(origin.get("folder"), str):
        folder = FilePath(origin["folder"])
    _set_all(draft, settings or {}, "--set")
    return Source(name, text, folder, file, draft)


def changed(source: Source, settings: Mapping[str, Any], option: str) -> Source:
    """Return a source with dotted keys changed, as `--set` changes them; `option` is what problems call the place."""
    old = source.draft
    draft = Draft(deepcopy(old.tree), dict(old.keys), dict(old.values), list(old.replaced))
    _set_all(draft, settings, option)
    return replace(source, draft=draft)


def _set_all(draft: Draft, settings: Mapping[str, Any], option: str) -> None:
    for key, value in settings.items():
        try:
            _set(draft, str(key), deepcopy(value), option)
        except (TypeError, IndexError, AttributeError):
            raise ScenarioError(
                [Problem(f"{option} {key}", "no such place in the scenario")]
            ) from None


def _display(path: FilePath) -> str:
    return f"library:{path.stem}" if path.parent == LIBRARY else str(path)


def _extend(draft: Draft, folder: FilePath, depth: int) -> Draft:
    """Put a draft on top of the file that it extends."""
    parent = draft.tree.get("extends")
    if not isinstance(parent, str):
        return draft
    report = Report(draft.keys, draft.values, "" if draft.keys else "scenario")
    if depth >= _MOST_EXTENDED:
        report.value(("extends",), f"files extend each other at most {_MOST_EXTENDED} deep")
        report.stop_if_any()
    if parent.startswith("library:"):
        name = parent.removeprefix("library:")
        path = LIBRARY / f"{name}.toml"
        if name not in library_names():
            hint = nearest(name, library_names())
            report.value(("extends",), f"no scenario '{name}' in the library; {hint}")
    elif "\0" in parent or len(parent) > 1000:
        report.value(("extends",), f"must be a path, got {shown(parent)}")
        path = folder
    else:
        path = folder / parent
        if not followed(path).is_relative_to(followed(folder)):
            report.value(("extends",), f"must stay in the folder of the file, got {parent}")
        elif not path.is_file():
            report.value(("extends",), f"no such file: {parent}")
    report.stop_if_any()
    below = parse(read_text(path), _display(path), quotes=path.parent == LIBRARY)
    below = _extend(below, path.parent, depth + 1)
    below.tree.pop("extends", None)
    below.tree.pop("name", None)
    draft.tree.pop("extends")
    _merge(below, (), draft, (), below.tree, draft.tree)
    return below


def _move(below: Draft, to: Path, above: Draft, source: Path) -> None:
    """Copy the spots of everything under a path."""
    size = len(source)
    for mine, theirs in ((below.keys, above.keys), (below.values, above.values)):
        for path, spot in theirs.items():
            if path[:size] == source:
                mine[to + path[size:]] = spot


def _merge(
    below: Draft, to: Path, above: Draft, source: Path, base: dict[str, Any], top: dict[str, Any]
) -> None:
    for key, value in top.items():
        here, there = (*to, key), (*source, key)
        mine = base.get(key)
        if isinstance(mine, dict) and isinstance(value, dict) and not _another_kind(mine, value):
            _merge(below, here, above, there, mine, value)
            continue
        if _all_named(mine) and _all_named(value) and mine is not None:
            _merge_named(below, here, above, there, mine, value)
            continue
        base[key] = value
        _move(below, here, above, there)


def _another_kind(mine: dict[str, Any], value: dict[str, Any]) -> bool:
    """A table of another kind replaces: the parameters of the former mean nothing to it."""
    return any(tag in value and value[tag] != mine.get(tag) for tag in ("kind", "source"))


def _all_named(value: Any) -> bool:
    return isinstance(value, list) and all(
        isinstance(item, dict) and isinstance(item.get("name"), str) for item in value
    )


def _merge_named(
    below: Draft, to: Path, above: Draft, source: Path, base: list[Any], top: list[Any]
) -> None:
    names = [item["name"] for item in base]
    for index, item in enumerate(top):
        there = (*source, index)
        if item["name"] in names:
            at = names.index(item["name"])
            _merge(below, (*to, at), above, there, base[at], item)
        else:
            base.append(item)
            _move(below, (*to, len(base) - 1), above, there)


def _set(draft: Draft, key: str, value: Any, option: str) -> None:
    """Change one dotted key; `nodes.NAME`, `nodes.INDEX` and `nodes.all` address groups."""
    for path in _addresses(draft.tree, key, option):
        tree: Any = draft.tree
        for part in path[:-1]:
            if isinstance(tree, dict) and isinstance(tree.get(str(part)), str) and part != path[-1]:
                tree[str(part)] = {"kind": tree[str(part)]}  # a bare kind gets its parameters
            tree = tree.setdefault(part, {}) if isinstance(tree, dict) else tree[part]
            if not isinstance(tree, (dict, list)):
                raise ScenarioError([Problem(f"{option} {key}", f"'{part}' is not a table")])
        last = path[-1]
        former = tree.get(last) if isinstance(tree, dict) else None
        if last in {"kind", "source"} and isinstance(tree, dict) and former not in (None, value):
            _note_replaced(draft, path[:-1], tree, value)
            tree.clear()
        elif isinstance(former, dict) and isinstance(value, str):
            _note_replaced(draft, path, former, value)
        tree[last] = value
        spot = Spot(option, 1, 1, f"{key} = {value}")
        for spots in (draft.keys, draft.values):
            for old in [p for p in spots if p[: len(path)] == path]:
                del spots[old]
            spots[path] = spot


def _note_replaced(draft: Draft, path: Path, table: dict[str, Any], now: Any) -> None:
    """Note that a table becomes one of another kind, or its bare name: what it held falls."""
    tag = next((tag for tag in ("kind", "source") if isinstance(table.get(tag), str)), None)
    if tag is None or not isinstance(now, str):
        return
    keys = {name: value for name, value in table.items() if name != tag}
    draft.replaced.append(Replaced(path, table[tag], now, keys))


def _entry(entries: list[Any], part: str, key: str, option: str) -> int:
    """Return the number of an entry of a list, by its number or its name."""
    names = [entry.get("name") if isinstance(entry, dict) else None for entry in entries]
    if part in names:
        return names.index(part)
    if part.isdecimal() and int(part) < len(entries):
        return int(part)
    known = [str(name) for name in names if name] + [str(i) for i in range(len(entries))]
    raise ScenarioError([Problem(f"{option} {key}", f"no entry '{part}'; {nearest(part, known)}")])


def _addresses(tree: dict[str, Any], key: str, option: str) -> list[Path]:
    parts = key.split(".")
    if not all(parts) or len(parts) > 8:
        raise ScenarioError(
            [Problem(f"{option} {key}", "must be a dotted key, such as network.loss")]
        )
    groups = tree.get("nodes")
    entries = tree.get(parts[0])
    if parts[0] != "nodes" and isinstance(entries, list) and len(parts) > 1:
        return [(parts[0], _entry(entries, parts[1], key, option), *parts[2:])]
    if parts[0] != "nodes" or not isinstance(groups, list):
        return [tuple(parts)]
    if len(parts) < 3:
        raise ScenarioError(
            [Problem(f"{option} {key}", "must name a group and a key: nodes.all.count")]
        )
    names = [g.get("name") if isinstance(g, dict) else None for g in groups]
    if parts[1] == "all":
        chosen = list(range(len(groups)))
    elif parts[1] in names:
        chosen = [names.index(parts[1])]
    elif parts[1].isdecimal() and int(parts[1]) < len(groups):
        chosen = [int(parts[1])]
    else:
        known = [str(name) for name in names if name] + ["all", *map(str, range(len(groups)))]
        message = f"no group '{parts[1]}'; {nearest(parts[1], known)}"
        raise ScenarioError([Problem(f"{option} {key}", message)])
    return [("nodes", index, *parts[2:]) for index in chosen]
