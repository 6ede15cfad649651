"""The pages of docs/reference/ say what the records say, and leave nothing out."""

import inspect
import re

import pytest

import hush
from actors import events
from scenarios.command.exit_codes import EVERY
from scenarios.command.verbs import VERBS
from scenarios.language.table_rules import Free, Kinds, Many, Table, keys_of
from scenarios.language.value_rules import Either
from scenarios.planning.fault_kinds import FaultTable, action_keys, fault_kinds, keys_of_faults
from scenarios.planning.scenario_tables import ScenarioTable
from scenarios.planning.sweep_table import SweepTable
from tests.support.documents import writer
from tests.support.paths import ROOT

PAGES = {
    "scenario-file": "write_scenario_file",
    "events": "write_events",
    "exit-codes": "write_exit_codes",
    "python": "write_python",
}


def text(page: str) -> str:
    return (ROOT / f"docs/reference/{page}.md").read_text("utf-8")


def tables() -> set[type[Table]]:
    """Return every table that may stand in a scenario file, found by its rules alone."""
    found: set[type[Table]] = set()
    waiting: list[object] = [ScenarioTable, FaultTable, SweepTable]
    waiting += [kind.rule for kind in fault_kinds()]
    while waiting:
        one = waiting.pop()
        if isinstance(one, type) and issubclass(one, Table):
            if one not in found:
                found.add(one)
                waiting += [known.rule for known in keys_of(one).values()]
        elif isinstance(one, Kinds):
            waiting += one.kinds.values()
        elif isinstance(one, (Many, Free)):
            waiting.append(one.rule)
        elif isinstance(one, Either):
            waiting += one.rules
        elif hasattr(one, "table"):
            waiting.append(one.table)
    return found


@pytest.mark.parametrize("page", PAGES)
def test_a_page_is_what_its_program_writes(page: str) -> None:
    assert text(page) == writer(PAGES[page]).page(), f"run docs/{PAGES[page]}.py"


def test_every_page_of_the_reference_has_a_program() -> None:
    assert {file.stem for file in (ROOT / "docs/reference").glob("*.md")} == set(PAGES)


def test_every_key_of_a_scenario_file_says_what_it_is() -> None:
    assert len(tables()) > 80, "the rules lead to every table"
    silent = {
        f"{table.__name__}.{key}"
        for table in tables()
        for key, known in keys_of(table).items()
        if not (known.words.endswith(".") and known.words[0].isupper() | (known.words[0] in "λη+"))
    }
    assert silent == set()
    assert all(known.words for known in keys_of_faults().values())
    assert all(more.words.endswith(".") for more in action_keys().values())


def test_every_key_and_every_kind_stands_on_the_page_of_the_scenario_file() -> None:
    page = text("scenario-file")
    for table in tables():
        for key in keys_of(table):
            assert f"| `{key}` |" in page, (table.__name__, key)
    named = [
        name for table in tables() for rule in keys_of(table).values() for name in _kinds(rule.rule)
    ]
    assert len(named) > 80
    for name in named:
        assert f"`{name}`" in page, name


def _kinds(rule: object) -> list[str]:
    return list(rule.kinds) if isinstance(rule, Kinds) else []


def test_the_links_within_a_page_lead_to_its_headings() -> None:
    for page in PAGES:
        headings = re.findall(r"^#+ (.+)$", text(page), re.MULTILINE)
        anchors = {re.sub(r"[^\w\- ]", "", h.lower()).replace(" ", "-") for h in headings}
        assert len(anchors) == len(headings), f"two headings of {page} are alike"
        assert set(re.findall(r"\]\(#([^)]+)\)", text(page))) <= anchors


def test_every_event_and_each_of_its_fields_stand_on_the_page() -> None:
    page, words = text("events"), writer("write_events").field_words()
    for kind in events.KINDS:
        tag = kind.__struct_config__.tag
        section = page.partition(f"## `{tag}`\n")[2].partition("\n## ")[0]
        for field in writer("write_events").recorded(kind):
            assert f"| `{field.name}` |" in section, (tag, field.name)
            assert words[kind.__name__][field.name].endswith("."), (tag, field.name)


def test_every_exit_code_of_every_verb_stands_on_the_page() -> None:
    page = text("exit-codes")
    for code in (*EVERY, *(code for verb in VERBS.values() for code in verb.exits)):
        assert re.search(rf"^\| {code} \|", page, re.MULTILINE), code
    for verb in VERBS:
        assert f"`hush {verb}`" in page


def test_every_name_of_the_package_and_its_docstring_stand_on_the_page() -> None:
    page = " ".join(text("python").split())
    for name in hush.__all__:
        assert f"`{name}`" in page or f"`hush.{name}`" in page
        if name != "__version__":
            first = (inspect.getdoc(getattr(hush, name)) or "").partition("\n\n")[0]
            assert " ".join(first.split()) in page, name


def test_what_a_script_gets_is_described_member_by_member() -> None:
    made = writer("write_python")
    page = text("python")
    for kind, _ in made.RETURNED:
        section = page.partition(f"### Class `{kind.__name__}`\n")[2].partition("\n### ")[0]
        public = [name for name in vars(kind) if not name.startswith("_")]
        for name in public:
            member = vars(kind)[name]
            if inspect.isfunction(member) or isinstance(member, property):
                assert re.search(rf"^- \*\*`{name}[`(]", section, re.MULTILINE), (kind, name)
