"""Write docs/reproduction.md, the pages of docs/questions/ and their pictures from the results that come with hush.

python docs/write_reproduction.py
"""

from pathlib import Path

from scenarios.reproduction.page import page, question_pages, write_pictures
from scenarios.reproduction.results import KEPT, read

ROOT = Path(__file__).parents[1]


def pages() -> dict[str, str]:
    """Return every page by its file, as it is written from the kept results."""
    results = read(KEPT)
    questions = {
        f"docs/questions/{name}.md": text for name, text in question_pages(results).items()
    }
    return {"docs/reproduction.md": page(results), **questions}


if __name__ == "__main__":
    for file, text in pages().items():
        (ROOT / file).parent.mkdir(parents=True, exist_ok=True)
        (ROOT / file).write_text(text, "utf-8")
    write_pictures(read(KEPT), ROOT / "docs/reproduction")
