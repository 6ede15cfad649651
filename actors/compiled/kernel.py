"""Compiled wakes: settle, merge, charge, draw noise, learn, send, and write the row of all that; many in one call.

Every function works on `columns.Arrays`. What a row cannot say ends a call: see `columns.EVENT`.
"""

import numpy as np
from numpy.typing import NDArray

from actors.arena.arena import HAS_DIVERGED, HAS_ENDED, HAS_SPENT, ORDERS
from actors.arena.columns import (
    BACK,
    CLIPS,
    CLOCK,
    CLOCK_KEY,
    COMING,
    DEGREE,
    DIVERGED,
    DRAWN,
    FIRST,
    HELD,
    INBOX,
    INSTANT,
    JITTER,
    KINDS,
    LAST_WAKE,
    LINK_KEY,
    MADE,
    MUTE,
    NEIGHBOUR,
    NOISE_HIGH,
    NOISE_LOW,
    NTH,
    OFFSETS,
    OPEN,
    OWN,
    PERIOD,
    PLANNED,
    POINTS,
    POLICY,
    PUBLISHED,
    PUBLISHED_AT,
    REDRAWN,
    REDRAWN_AFTER,
    ROUNDS,
    ROWS,
    SCHEDULE,
    SCHEDULED,
    SEEN,
    SENT_TO,
    SMOOTHS,
    SPENT,
    STATE,
    UNREAD,
    UNREAD_VECTOR,
    UNREAD_VERSION,
    UPDATES,
    VERSION,
    WAKES,
    Words,
)
from actors.compiled import noise_bits
from actors.compiled.columns import (
    AGENT,
    ARRIVAL,
    AWAKE,
    CAUSE,
    COUNT,
    DELAY,
    ENOUGH,
    EVENT,
    EVENTS,
    FLYING,
    FREE_MESSAGES,
    FREE_VECTORS,
    GAUSSIAN,
    GRID,
    L2,
    LAPLACE,
    MESSAGES_FULL,
    NEW_PLACES,
    NEXT,
    NO_NOISE,
    NOTHING_DUE,
    NOW,
    ORDER,
    PLACES,
    PULL,
    ROOM,
    SCRATCH_FULL,
    SENT_BY,
    SEQ,
    SERVED,
    SHAPE,
    STEP,
    TURNS,
    VALUE,
    VECTOR,
    VECTORS_FULL,
    WEIGHT,
    WHAT,
    WORDS,
    Arrays,
)
from actors.compiled.compiling import compiled
from actors.compiled.descent import (
    add_one,
    add_two,
    descend,
    gradient,
    halfway,
    records_at,
    square,
)
from actors.compiled.times import NEVER, bits, delay, is_lost, next_wake
from actors.turns import (
    BITS,
    DERIVED,
    HEAD,
    LOST_ARRIVAL,
    MERGED,
    NOTHING,
    OLD,
    RELEASED,
    REPLACES,
    SENT_,
    TAKEN,
    TURN,
    WOKE,
)

U = np.uint64
LOW_HALF = (1 << 32) - 1


@compiled()
def _give_back(a, place):
    """Need a vector no longer, at one place; the last one to say so makes it free."""
    a.needed[place] -= 1
    if a.needed[place] == 0:
        a.free_vectors[a.counters[FREE_VECTORS]] = place
        a.counters[FREE_VECTORS] += 1


# the heap of wakes


@compiled()
def _comes_first(t, i, other_t, other_i):
    return t < other_t or (t == other_t and i < other_i)


@compiled()
def push_wake(a, t, i):
    """Let an agent wake at an instant."""
    at = a.counters[AWAKE]
    a.counters[AWAKE] += 1
    while at > 0:
        above = (at - 1) >> 1
        if not _comes_first(t, i, a.due_at[above], a.due[above]):
            break
        a.due_at[at], a.due[at] = a.due_at[above], a.due[above]
        at = above
    a.due_at[at], a.due[at] = t, i


@compiled()
def _put_first(a, t, i):
    """Put a wake in the place of the first one."""
    at, count = 0, a.counters[AWAKE]
    while True:
        below = 2 * at + 1
        if below >= count:
            break
        if below + 1 < count and _comes_first(
            a.due_at[below + 1], a.due[below + 1], a.due_at[below], a.due[below]
        ):
            below += 1
        if not _comes_first(a.due_at[below], a.due[below], t, i):
            break
        a.due_at[at], a.due[at] = a.due_at[below], a.due[below]
        at = below
    a.due_at[at], a.due[at] = t, i


@compiled()
def _drop_first(a):
    a.counters[AWAKE] -= 1
    last = a.counters[AWAKE]
    if last > 0:
        _put_first(a, a.due_at[last], a.due[last])


@compiled()
def drop_wake(a: Arrays, i: int) -> None:
    """Take the wake of an agent out of the heap, where it has one."""
    count = a.counters[AWAKE]
    for at in range(count):
        if a.due[at] == i:
            a.due_at[at], a.due[at] = a.due_at[count - 1], a.due[count - 1]
            a.counters[AWAKE] = count - 1
            order_wakes(a)
            return


@compiled()
def order_wakes(a):
    """Make a heap of wakes that stand in any order."""
    count = a.counters[AWAKE]
    for top in range(count // 2 - 1, -1, -1):
        t, i, at = a.due_at[top], a.due[top], top
        while True:
            below = 2 * at + 1
            if below >= count:
                break
            if below + 1 < count and _comes_first(
                a.due_at[below + 1], a.due[below + 1], a.due_at[below], a.due[below]
            ):
                below += 1
            if not _comes_first(a.due_at[below], a.due[below], t, i):
                break
            a.due_at[at], a.due[at] = a.due_at[below], a.due[below]
            at = below
        a.due_at[at], a.due[at] = t, i


@compiled()
def schedule_wakes(a: Arrays, after: Words, ids: Words, ended: NDArray[np.bool_]) -> None:
    """Let agents wake next by their own clocks, each not before its instant in `after`; say which have no more wakes."""
    for n in range(len(ids)):
        i = ids[n]
        t = _next_instant(a, i, after[n])
        if t == NEVER:
            ended[n] = True
        else:
            a.due_at[a.counters[AWAKE]], a.due[a.counters[AWAKE]] = t, i
            a.counters[AWAKE] += 1
    order_wakes(a)


@compiled()
def _next_instant(a, i, after):
    """Return the next wake of an agent by its own clock, which is later than its last one and not before `after`."""
    agent = a.agents[i]
    while agent[NTH] < agent[WAKES]:
        last = next_wake(
            agent[CLOCK],
            agent[PERIOD],
            agent[JITTER],
            a.tables,
            a.listed,
            U(agent[CLOCK_KEY]),
            agent[NTH],
            agent[INSTANT],
        )
        agent[INSTANT] = last
        agent[NTH] += 1
        if last == NEVER:
            return NEVER
        if last >= after:
            return last
    return NEVER


# messages


@compiled()
def post(
    a: Arrays,
    receiver: int,
    slot: int,
    version: int,
    place: int,
    arrival: int,
    sent_by: int,
    order: int,
) -> None:
    """Let a vector arrive at an agent from its neighbour in a slot."""
    counters, agent = a.counters, a.agents[receiver]
    counters[FREE_MESSAGES] -= 1
    at = a.free_messages[counters[FREE_MESSAGES]]
    message = a.messages[at]
    message[ARRIVAL] = arrival
    message[SENT_BY] = sent_by
    message[ORDER] = order
    message[WHAT] = slot << 32 | version
    message[VECTOR] = place
    message[NEXT] = agent[INBOX]
    agent[INBOX] = at
    agent[COMING] += 1
    counters[FLYING] += 1


@compiled()
def _take_due(a, i, until):
    """Take the messages that have arrived out of an agent's list, into `order`; return how many."""
    agent, messages, order = a.agents[i], a.messages, a.order
    count, previous, at = 0, -1, agent[INBOX]
    while at >= 0:
        following = messages[at, NEXT]
        if messages[at, ARRIVAL] <= until:
            order[count] = at
            count += 1
            if previous < 0:
                agent[INBOX] = following
            else:
                messages[previous, NEXT] = following
        else:
            previous = at
        at = following
    agent[COMING] -= count
    a.counters[FLYING] -= count
    gap = 1
    while gap < count // 3:
        gap = 3 * gap + 1
    while gap > 0:  # Shell's sort: nearly always a handful
        for n in range(gap, count):
            one, p = order[n], n
            t, posted = messages[one, ARRIVAL], messages[one, ORDER]
            while p >= gap:
                other = order[p - gap]
                if not _comes_first(t, posted, messages[other, ARRIVAL], messages[other, ORDER]):
                    break
                order[p] = other
                p -= gap
            order[p] = one
        gap //= 3
    return count


@compiled()
def _settle(a, i, count, p):
    """Settle the messages in `order`, and write their words from p on; return how many were superseded.

    Where this supersedes what was settled earlier and not read, `scratch` gets that as a row carries it: how many, and then
    a word each.
    """
    counters, agent, links = a.counters, a.agents[i], a.links
    first, superseded, carried, words = agent[FIRST], 0, 0, a.words
    before = agent[UNREAD]
    for n in range(count):
        at = a.order[n]
        message = a.messages[at]
        slot, version = message[WHAT] >> 32, message[WHAT] & LOW_HALF
        link = links[first + slot]
        fate = TAKEN
        if version <= link[SEEN]:
            fate = OLD
            superseded += 1
            _give_back(a, message[VECTOR])
        else:
            if link[UNREAD_VERSION] >= 0:
                fate = REPLACES
                superseded += 1
                for place in range(before):
                    if a.unread[first + place] == slot and a.scratch[slot + 1] == 0:
                        a.scratch[slot + 1] = 1
                        carried += 1
                        a.scratch[len(a.scratch) // 2 + carried] = (
                            link[NEIGHBOUR] << 32 | link[UNREAD_VERSION]
                        )
                _give_back(a, link[UNREAD_VECTOR])
            else:
                a.unread[first + agent[UNREAD]] = slot
                agent[UNREAD] += 1
            link[SEEN] = version
            link[UNREAD_VERSION] = version
            link[UNREAD_VECTOR] = message[VECTOR]
        words[p] = message[ARRIVAL]
        words[p + 1] = message[SENT_BY]
        words[p + 2] = link[NEIGHBOUR] << 34 | version << 2 | fate
        p += 3
        a.free_messages[counters[FREE_MESSAGES]] = at
        counters[FREE_MESSAGES] += 1
    if carried:
        for slot in range(agent[DEGREE]):
            a.scratch[slot + 1] = 0
    a.scratch[0] = carried
    return superseded


@compiled()
def settle(a: Arrays, first: int, last: int, until: int, t: int) -> int:
    """Settle what has arrived at or before an instant at agents `first` up to `last`; return where it stopped for room.

    That is `last` where all is done.
    """
    counters, words = a.counters, a.words
    for i in range(first, last):
        agent = a.agents[i]
        if agent[INBOX] < 0:
            continue
        degree, coming = agent[DEGREE], agent[COMING]
        p = counters[WORDS]
        room = p + 16 + 3 * degree + 3 * coming <= len(words) and counters[TURNS] < len(a.starts)
        if not room or coming > len(a.order):
            return i
        count = _take_due(a, i, until)
        if not count:
            continue
        superseded = _settle(a, i, count, p + HEAD)
        carried = a.scratch[0]
        if carried:
            for n in range(3 * count - 1, -1, -1):
                words[p + HEAD + carried + n] = words[p + HEAD + n]
            for n in range(carried):
                words[p + HEAD + n] = a.scratch[len(a.scratch) // 2 + 1 + n]
        length = HEAD + carried + 3 * count
        _write_head(a, p, 0, length, t, i, carried, count, superseded)
        words[p + 6] = words[p + 7] = words[p + 8] = NOTHING
        words[p + 9] = words[p + 10] = 0
        counters[SEQ] += count + superseded
        counters[EVENTS] += count + superseded
    return last


@compiled()
def _write_head(a, p, flags, length, t, i, carried, settled, superseded):
    counters, words = a.counters, a.words
    words[p] = TURN | flags << 8 | length << 16
    words[p + 1] = counters[SEQ] + 1
    words[p + 2] = t
    words[p + 3] = i
    words[p + 4] = 0
    words[p + 5] = carried | settled << BITS | superseded << (2 * BITS)
    a.starts[counters[TURNS]] = p
    counters[TURNS] += 1
    counters[WORDS] = p + length


# learning


@compiled()
def _mix(a, i):
    """Set `mean` to the mean of what an agent holds of its neighbours."""
    first, degree, links, mean = a.agents[i, FIRST], a.agents[i, DEGREE], a.links, a.mean
    mean[:] = 0.0
    e, end = first, first + degree
    while e + 2 <= end:
        one, other = a.vectors[links[e, HELD]], a.vectors[links[e + 1, HELD]]
        add_two(a.shares[e], one, a.shares[e + 1], other, mean)
        e += 2
    if e < end:
        add_one(a.shares[e], a.vectors[links[e, HELD]], mean)


@compiled()
def _draw(a, agent, k, scale):
    """Draw the noise of release k into `noise`; return what it is multiplied by."""
    words, used, noise = a.noise_words, a.noise_used, a.noise
    low, high = U(agent[NOISE_LOW]), U(agent[NOISE_HIGH])
    law = agent[KINDS] & 0xFF
    noise_bits.open_stream(words, used, k, low, high)
    if law == LAPLACE:
        noise_bits.laplaces(noise, scale, words, used, k, low, high)
        return 1.0
    noise_bits.normals(noise, words, used, k, low, high)
    if law == GAUSSIAN:
        return scale
    length = noise_bits.gamma(np.float64(len(noise)), words, used, k, low, high) / scale
    return length / np.sqrt(square(noise))


@compiled()
def _descend(a, i, k, scale, out):
    """Take a step of descent with the noise of release k."""
    agent, numbers = a.agents[i], a.numbers[i]
    theta, points = a.vectors[agent[OWN]], agent[POINTS]
    factor = 0.0
    if k <= agent[DRAWN] and agent[REDRAWN] < 0:
        agent[REDRAWN], agent[REDRAWN_AFTER] = k, agent[DRAWN]
    agent[DRAWN] = k
    if agent[KINDS] & 0xFF == NO_NOISE:
        a.noise[:] = 0.0
    else:
        factor = _draw(a, agent, k, scale)
    gradient(
        records_at(agent[ROWS], points, len(theta)),
        records_at(agent[OFFSETS], points, np.int64(agent[OFFSETS] != 0)),
        records_at(agent[CLIPS], points, np.int64(agent[CLIPS] != 0)),
        theta,
        agent[KINDS] >> 8,
        numbers[SHAPE],
        numbers[WEIGHT],
        numbers[L2],
        a.scores,
        a.slope,
    )
    _mix(a, i)
    descend(
        theta, a.mean, a.slope, a.noise, factor, numbers[PULL], numbers[STEP], numbers[GRID], out
    )


@compiled()
def _send(a, i, t, version, place, sent_by, p):
    """Put a vector on all links to present neighbours, write the words of that, and return how many were lost."""
    agent, words, links = a.agents[i], a.words, a.links
    first, count, lost = agent[FIRST], agent[SENT_TO], 0
    arrivals, n, low = p + (count + 1) // 2, 0, 0
    for slot in range(agent[DEGREE]):
        link = links[first + slot]
        if link[POLICY] < OPEN:
            continue
        policy = a.policies[link[POLICY] - OPEN]
        loss = a.losses[link[POLICY] - OPEN]
        receiver, key = link[NEIGHBOUR], U(link[LINK_KEY])
        if n % 2:
            words[p + n // 2] = low | receiver << 32
        else:
            low = receiver
        if loss > 0.0 and is_lost(bits(key, 2 * version), loss):
            lost += 1
            arrival = LOST_ARRIVAL
        else:
            luck = bits(key, 2 * version + 1)
            arrival = t + delay(
                policy[DELAY], policy[VALUE], policy[COUNT], a.tables, a.listed, luck, version
            )
            post(a, receiver, link[BACK], version, place, arrival, sent_by, sent_by * ORDERS)
            a.needed[place] += 1
        words[arrivals + n] = arrival
        n += 1
    if n % 2:
        words[p + n // 2] = low
    return lost


@compiled()
def _publish(a, i, place):
    """Make a vector the model of its agent, and what it published last; return its version."""
    agent = a.agents[i]
    version = agent[VERSION]
    agent[PUBLISHED] = version
    agent[PUBLISHED_AT] = agent[ROUNDS]
    agent[VERSION] = version + 1
    _give_back(a, agent[OWN])
    agent[OWN] = place
    return version


@compiled()
def _place_of(a, spend):
    """Return the place of a spend in the table of the log; it gets the next one where it is charged first."""
    counters = a.counters
    if a.places[spend] < 0:
        a.places[spend] = counters[PLACES]
        counters[PLACES] += 1
        a.new_places[counters[NEW_PLACES]] = spend
        counters[NEW_PLACES] += 1
    return a.places[spend]


@compiled()
def _wake(a, i, t, count):
    """Let an agent wake, which has `count` messages to settle; return what a row cannot say of it."""
    counters, agent, words, links = a.counters, a.agents[i], a.words, a.links
    first, start, dimension = agent[FIRST], counters[WORDS], a.vectors.shape[1]
    flags, carried, p = WOKE, agent[UNREAD], start + HEAD
    for n in range(carried):
        link = links[first + a.unread[first + n]]
        words[p + n] = link[NEIGHBOUR] << 32 | link[UNREAD_VERSION]
    p += carried
    superseded = _settle(a, i, count, p)
    p += 3 * count
    agent[UPDATES] += 1
    agent[ROUNDS] += 1
    agent[LAST_WAKE] = t
    seq = counters[SEQ] + count + superseded + 1  # of `woke`
    if agent[UNREAD]:
        flags |= MERGED
        seq += 1
        for n in range(agent[UNREAD]):
            link = links[first + a.unread[first + n]]
            _give_back(a, link[HELD])
            link[HELD] = link[UNREAD_VECTOR]
            link[UNREAD_VERSION] = -1
        agent[UNREAD] = 0
    k = spend = sent_version = NOTHING
    sending, says, cause = 0, 0, seq
    if not agent[STATE] & (DIVERGED | MUTE):
        place = a.free_vectors[counters[FREE_VECTORS] - 1]
        out = a.vectors[place]
        moves = True
        if agent[MADE] < agent[PLANNED]:
            flags |= RELEASED
            k = agent[MADE]
            at = agent[SCHEDULE] + min(k, agent[SCHEDULED] - 1)
            spend = _place_of(a, a.spends[at])
            agent[MADE] = k + 1
            _descend(a, i, k, a.scales[at], out)
            seq += 3
        elif agent[STATE] & SMOOTHS:
            flags |= DERIVED
            _mix(a, i)
            halfway(a.vectors[agent[OWN]], a.mean, out)
            seq += 1
        else:
            moves = False
        if moves:
            counters[FREE_VECTORS] -= 1
            a.needed[place] = 1
            cause = seq
            version = _publish(a, i, place)
            if flags & DERIVED:
                sent_version = version
            if not np.isfinite(square(out)):
                agent[STATE] |= DIVERGED
                says |= HAS_DIVERGED
            elif agent[SENT_TO]:
                flags |= SENT_
                sent_version = version
                lost = _send(a, i, t, version, place, seq + 1, p)
                count_sent = agent[SENT_TO]
                p += (count_sent + 1) // 2 + count_sent
                sending = count_sent | lost << BITS | dimension << (2 * BITS)
                seq += 1 + lost
        if agent[MADE] >= agent[PLANNED] and not agent[STATE] & SPENT:
            agent[STATE] |= SPENT
            says |= HAS_SPENT
    _write_head(a, start, flags, p - start, t, i, carried, count, superseded)
    words[start + 6] = k
    words[start + 7] = spend
    words[start + 8] = sent_version
    words[start + 9] = sending
    words[start + 10] = 0
    counters[EVENTS] += seq - counters[SEQ]
    counters[SEQ] = seq
    counters[CAUSE] = cause
    return says


@compiled()
def fly(a: Arrays, until: int, before: int, most: int) -> int:
    """Let agents wake in order, at most `most` of them: up to an instant, and in it those below the id `before`.

    Returns why it ended: NOTHING_DUE, ENOUGH, what is too small, or EVENT with what an agent needs.
    """
    counters = a.counters
    while counters[AWAKE]:
        t, i = a.due_at[0], np.int64(a.due[0])
        if t > until or (t == until and i >= before):
            return NOTHING_DUE
        if counters[SERVED] >= most:
            return ENOUGH
        agent = a.agents[i]
        degree, coming = agent[DEGREE], agent[COMING]
        if counters[WORDS] + 16 + 3 * degree + 3 * coming > len(a.words):
            return ROOM
        if counters[TURNS] >= len(a.starts) or counters[NEW_PLACES] >= len(a.new_places):
            return ROOM
        if coming > len(a.order):
            return SCRATCH_FULL
        if counters[FREE_VECTORS] < 1:
            return VECTORS_FULL
        if counters[FREE_MESSAGES] < degree:
            return MESSAGES_FULL
        counters[NOW] = t
        counters[SERVED] += 1
        says = _wake(a, i, t, _take_due(a, i, t - 1))
        following = _next_instant(a, i, t)
        if following == NEVER:
            says |= HAS_ENDED
            _drop_first(a)
        else:
            _put_first(a, following, i)
        if says:
            counters[AGENT] = i
            return int(EVENT | says)
    return NOTHING_DUE
