"""clock: the own clock of an agent shows another time.

One of: it shows too much (`offset`), runs too fast (`drift = 0.01`: 1 %), is set forward or back for good (`jump`), stands
still (`freeze`). Wakes go by it, and so do the ticks of ADMM's integrals.
"""

from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING

from scenarios.language.table_rules import key
from scenarios.language.value_rules import Flag, Number, signed_duration
from scenarios.planning.check_targets import ActionCheck
from scenarios.planning.fault_examples import Example, some_agents
from scenarios.planning.fault_kinds import Brings, FaultKind, FaultTable, Hits
from scenarios.planning.fault_parts import agent_actions, context, schedule
from scenarios.planning.fault_tables import AgentsTable

if TYPE_CHECKING:
    from actors.faults.schedule import Action
    from scenarios.planning.fault_builder import FaultBuilder


class ClockTable(AgentsTable):
    """One of: `offset` and `jump` in seconds, `drift` as a share, `freeze`."""

    offset: float | None = key(
        signed_duration(), words="By how many seconds the clock shows too much."
    )
    drift: float | None = key(
        Number(above=-1, high=10), words="By what share the clock runs too fast: 0.01 is 1 %."
    )
    jump: float | None = key(
        signed_duration(), words="By how many seconds the clock is set forward, or back, for good."
    )
    freeze: bool | None = key(Flag(), words="Whether the clock stands still.")


def check(at: ActionCheck, _: FaultTable, value: ClockTable) -> None:
    """Report a clock with none or several changes, and agents that have no clock."""
    given = [key for key in ("offset", "drift", "jump", "freeze") if key in value.given]
    if len(given) != 1:
        got = " and ".join(given) or "none"
        at.report.key(value.place, f"needs exactly one of offset, drift, jump, freeze; got {got}")
    if value.freeze is False:
        at.report.value(value.path_to("freeze"), "changes nothing: leave it out")
    if not at.shows_time:
        at.report.key(
            value.place, "needs clocks that show a time: barriers and servers count rounds"
        )


def build(at: "FaultBuilder", _: FaultTable, value: ClockTable) -> "Action":
    """Return the action."""
    from clocks.clock import nanoseconds

    change_clock = agent_actions.change_clock

    def signed(seconds: float) -> Fraction:
        return Fraction(nanoseconds(abs(seconds)) * (1 if seconds >= 0 else -1))

    if value.offset is not None:
        change = partial(change_clock, kind="offset", amount=signed(value.offset))
    elif value.jump is not None:
        change = partial(change_clock, kind="jump", amount=signed(value.jump))
    elif value.drift is not None:
        amount = Fraction(value.drift).limit_denominator(10**9)
        change = partial(change_clock, kind="drift", amount=amount)
    else:
        change = partial(change_clock, kind="freeze", amount=Fraction(0))
    shifts_s = abs(value.offset or value.jump or 0.0)
    return schedule.Action(at.target(value.on), change, needs=context.OWN_CLOCK, shifts_s=shifts_s)


_CHANGES = ({"offset": -1.5}, {"drift": 0.3}, {"jump": 2.0}, {"jump": -1.0}, {"freeze": True})
KIND = FaultKind(
    name="clock",
    on="agents",
    order=80,
    table=ClockTable,
    says="its clock drifts; or offset=, jump=, freeze=true",
    template="clock {} drift=0.1",
    silences=False,
    loses=False,
    stalls=False,
    brings=Brings.NEVER,
    hits=Hits.UNTOLD,
    state="",
    build=build,
    examples=(
        Example(
            "clock",
            lambda luck, size: {"clock": {"on": some_agents(luck, size), **luck.pick(_CHANGES)}},
            lambda world: world.family != "server" and not world.has_barrier,
        ),
    ),
    once=lambda value: "a jump" if "jump" in value.given else "",
    check=check,
)
