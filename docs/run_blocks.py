"""Run the commands of the pages and compare what they print with what the pages show.

python docs/run_blocks.py [--write] [PAGE …]

Without pages: the README, the tutorials and the how-to pages. A block that ended with an error, or printed something
else, is told with its page and line, and the exit code is 1. With --write the pages get the outputs that were printed.
"""

import argparse
import sys
from pathlib import Path
from time import monotonic

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))


def main() -> int:
    """Run the pages that the command line names, and return the exit code."""
    from tests.support.page_blocks import is_session, page_text, pages
    from tests.support.page_sessions import differences, rewritten

    reader = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    reader.add_argument("page", nargs="*", help="default: all that have commands to follow")
    reader.add_argument(
        "--write", action="store_true", help="write what was printed into the pages"
    )
    asked = reader.parse_args()
    known = [page for page in pages() if is_session(page)]
    names = [Path(page).resolve().relative_to(ROOT).as_posix() for page in asked.page] or known
    for name in names:
        if name not in known:
            reader.error(
                f"{name} is no page with commands to follow; these are: {', '.join(known)}"
            )
    failed = 0
    for name in names:
        began = monotonic()
        text = page_text(name)
        found = differences(name, text)
        sys.stdout.write(f"{name}: {monotonic() - began:.1f} s, {len(found)} differences\n")
        for one in found:
            sys.stdout.write(f"{one.place}: {one.why}\n\n")
        if asked.write:
            (ROOT / name).write_text(rewritten(text, found), encoding="utf-8")
        failed += sum(1 for one in found if one.output is None or not asked.write)
    return 1 if failed else 0


if __name__ == "__main__":
    raise SystemExit(main())
