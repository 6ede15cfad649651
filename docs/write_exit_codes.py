"""Write docs/reference/exit-codes.md from the records of the verbs.

python docs/write_exit_codes.py
"""

from pathlib import Path

from scenarios.command.exit_codes import EVERY
from scenarios.command.help_text import in_groups

PAGE = Path(__file__).parent / "reference/exit-codes.md"

HEAD = """# Exit codes

With what a command ends: for scripts and CI. Written by `docs/write_exit_codes.py` from the records of the verbs; a test holds the two together.
`hush VERB --help` has the same lines for one verb.

```sh
hush run ring5-dropout --quiet && echo "everything held"
```

A code says what is the worst that happened. What ends with 1, 3, 4 or 5 is a result: the run's folder is complete, and says why. Only 70 shows a traceback, and says how to report it.
A reader of standard output that goes away (`hush list | head -1`) is no error.
"""


def page() -> str:
    """Return the whole page."""
    verbs = [verb for verbs in in_groups().values() for verb in verbs]
    said: dict[int, dict[str, list[str]]] = {code: {} for code in EVERY}
    for verb in verbs:
        for code, words in verb.exits.items():
            said.setdefault(code, {}).setdefault(words, []).append(verb.name)
    lines = [HEAD, "## By code", "", "| code | meaning | verbs |", "| --- | --- | --- |"]
    for code in sorted(said):
        if code in EVERY:
            lines.append(f"| {code} | {EVERY[code]} | every verb |")
        for words, names in said[code].items():
            shown = ", ".join(f"`{name}`" for name in names)
            lines.append(f"| {code} | {words} | {shown} |")
    lines += ["", "## By verb", "", "| verb | codes of its own |", "| --- | --- |"]
    for verb in verbs:
        own = "; ".join(f"{code}: {verb.exits[code]}" for code in sorted(verb.exits))
        lines.append(f"| `hush {verb.name}` | {own or 'none'} |")
    lines += ["", f"Every verb may also end with {_listed(list(EVERY))}, as above.", ""]
    return "\n".join(lines)


def _listed(codes: list[int]) -> str:
    *first, last = map(str, sorted(codes))
    return f"{', '.join(first)} or {last}"


if __name__ == "__main__":
    PAGE.parent.mkdir(exist_ok=True)
    PAGE.write_text(page(), "utf-8")
