"""The paths by which wakes are computed: their names.

It loads no NumPy: the command line names the paths in its help.
"""

AUTO, EVENTS, COLUMNS = "auto", "events", "columns"
PATHS = (AUTO, EVENTS, COLUMNS)
"""By itself; event by event, the reference; settled in columns, many wakes at a time."""
_FORMER = {"detailed": EVENTS, "plain": COLUMNS, "fast": COLUMNS}
"""Names that paths had up to version 0.11, and what takes their place."""


def checked_path(path: object) -> str:
    """Return a path that was asked for; raise `ScenarioError` where it is none."""
    from scenarios.language.problems import ScenarioError, nearest

    if not isinstance(path, str) or path not in PATHS:
        said = f"must be one of {', '.join(PATHS)}, got {path!r}"
        if isinstance(path, str) and path in _FORMER:
            said += f"; {path} is {_FORMER[path]} now"
        elif isinstance(path, str):
            said += f"; {nearest(path, PATHS)}"
        raise ScenarioError.of("path", said)
    return path
