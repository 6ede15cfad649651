"""What becomes of messages that are settled together is what a mailbox makes of them one by one."""

from typing import Any

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from actors.columns.messages import Messages, fates_of
from actors.turns import OLD, REPLACES, TAKEN


def one_by_one(
    turns: list[list[tuple[int, int]]], seen: dict[int, int], unread: dict[int, int]
) -> tuple[list[int], list[int], list[int], dict[int, int]]:
    """Return the fates, the places of kept messages and of those that supersede unread ones, and what was seen at the end."""
    fates, kept, over, seen = [], list[int](), list[int](), dict(seen)
    place = 0
    for number, turn in enumerate(turns):
        here, before = dict[int, int](), dict(unread) if number == 0 else {}
        for link, version in turn:
            if version <= seen.get(link, -1):
                fates.append(OLD)
            else:
                fates.append(REPLACES if link in here or link in before else TAKEN)
                if before.pop(link, None) is not None:
                    over.append(place)
                here[link] = place
                seen[link] = version
            place += 1
        kept += here.values()
    return fates, sorted(kept), over, seen


@given(st.data())
@settings(max_examples=300)
def test_fates_are_those_of_a_mailbox(data: Any) -> None:
    message = st.tuples(st.integers(0, 3), st.integers(0, 5))
    turns = data.draw(st.lists(st.lists(message, max_size=8), min_size=1, max_size=4))
    seen = data.draw(st.dictionaries(st.integers(0, 3), st.integers(0, 3)))
    unread = {link: version for link, version in seen.items() if data.draw(st.booleans())}
    flat = [each for turn in turns for each in turn]
    turn = np.array([number for number, turn in enumerate(turns) for _ in turn], np.int64)
    link = np.array([link for link, _ in flat], np.int64)
    version = np.array([version for _, version in flat], np.int64)
    nothing = np.zeros(len(flat), np.int64)
    before = np.array([seen.get(each, -1) for each in link.tolist()], np.int64)
    has_unread = np.isin(link, list(unread)) & (turn == 0)
    fates = fates_of(
        Messages(nothing, nothing, link, version, nothing, nothing), turn, before, has_unread
    )
    wanted = one_by_one(turns, seen, unread)
    assert fates.fate.tolist() == wanted[0]
    assert sorted(fates.kept.tolist()) == wanted[1]
    assert fates.first.tolist() == wanted[2]
    newest = dict(zip(link[fates.kept].tolist(), version[fates.kept].tolist(), strict=True))
    assert {**seen, **newest} == wanted[3], "of each link the last one that is kept is the newest"
