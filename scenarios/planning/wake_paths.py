"""The paths by which a wake is computed: their names, and whether one of them can be taken here.

It loads no NumPy: the command line names the paths in its help.
"""

AUTO, DETAILED, PLAIN, FAST = "auto", "detailed", "plain", "fast"
PATHS = (AUTO, DETAILED, PLAIN, FAST)
"""By itself; every event an object; one function of NumPy calls for each wake; compiled by numba."""
INSTALL = "pip install 'hush-sim[fast]'"


def has_compiler() -> bool:
    """Whether numba is installed; it is not imported for this."""
    from importlib.util import find_spec

    return find_spec("numba") is not None


def checked_path(path: object) -> str:
    """Return a path that was asked for; raise `ScenarioError` where it is none, or cannot be taken here."""
    from scenarios.language.problems import ScenarioError, nearest

    if not isinstance(path, str) or path not in PATHS:
        said = f"must be one of {', '.join(PATHS)}, got {path!r}"
        hint = f"; {nearest(path, PATHS)}" if isinstance(path, str) else ""
        raise ScenarioError.of("path", said + hint)
    if path == FAST and not has_compiler():
        said = f"{FAST} needs numba, which is not installed: {INSTALL}"
        raise ScenarioError.of("path", said)
    return path
