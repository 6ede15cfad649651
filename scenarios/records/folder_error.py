"""What is raised where a folder is not what it should be. The command knows it before msgspec is loaded (10 ms)."""

from scenarios.language.visible_text import visible


class FolderError(ValueError):
    """A folder is not what it should be; the message is one line for a terminal."""

    def __init__(self, message: str) -> None:
        super().__init__(visible(message))
