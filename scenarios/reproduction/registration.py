"""The rules that were committed before their results: a digest of each, kept in `registrations.json`.

A claim is registered by a commit that adds its digest to the file. Its result, which carries the same digest, comes in a later
commit. `tests/scenarios/reproduction/test_registration.py` asks git for the order of the two.
"""

import hashlib
import inspect
import json
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from scenarios.language.reader import read_source

if TYPE_CHECKING:
    from scenarios.reproduction.claim import Claim

REGISTRATIONS = Path(__file__).with_name("registrations.json")


def digest(claim: "Claim") -> str:
    """Return 32 hex digits of what decides a claim: its words, its sweeps with their settings and seeds, and its `judge`.

    White space and comments of scenarios and line breaks of code do not count. Functions that `judge` calls are not in it: the bounds stand
    in the rule. Raises ValueError where `judge` is not a named function of a module, or such a one with arguments.
    """
    words = [claim.name, claim.paper, claim.place, claim.statement, claim.reading]
    sweeps = [
        [one.command, one.quick_seeds, read_source(one.scenario, {}).tree]
        for one in claim.experiments
    ]
    tree = [*words, claim.value, claim.rule, sweeps, _code(claim)]
    text = json.dumps(tree, sort_keys=True, default=str)
    return hashlib.sha256(text.encode()).hexdigest()[:32]


def _code(claim: "Claim") -> list[Any]:
    """Return the text of a claim's judge without white space, and the arguments that it is given beforehand."""
    judge: Any = claim.judge
    given = list[Any]()
    if isinstance(judge, partial):
        judge, given = judge.func, [judge.args, sorted(judge.keywords.items())]
    if not inspect.isfunction(judge) or judge.__name__ == "<lambda>":
        raise ValueError(f"{claim.name}: the judge of a registered claim is a named function")
    return ["".join(inspect.getsource(judge).split()), repr(given)]


def registered() -> dict[str, str]:
    """Return the registered digests by the names of their claims."""
    return dict(json.loads(REGISTRATIONS.read_text("utf-8")))
