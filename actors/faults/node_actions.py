"""What a scenario does to agents: their life, their pace, their clocks."""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import partial

from actors.faults import overlapping_absences
from actors.faults.context import Stage, Strike, Undo
from actors.faults.targets import Target
from clocks.clock import FAULT
from clocks.durations import Draws, Duration

_FIRST_SESSION = 1


@dataclass(frozen=True, slots=True)
class Crash:
    """Stop without a word; memory is lost as said, the ledger never."""

    target: Target
    lose: str = "volatile"
    name: str = "crash"
    undone: str = "restart"

    def begin(self, strike: Strike) -> Undo | None:
        members, began = strike.stage.members, strike.cause
        return strike.while_it_lasts(
            lambda i: overlapping_absences.hold_down(members, i, self.lose, began),
            lambda i, ended: overlapping_absences.let_up(members, i, ended, began),
        )


@dataclass(frozen=True, slots=True)
class Restart:
    """Bring back who is down."""

    target: Target
    name: str = "restart"
    undone: str = ""

    def begin(self, strike: Strike) -> Undo | None:
        for i in strike.hit:
            strike.stage.members.restart(i, strike.cause)
        return None


@dataclass(frozen=True, slots=True)
class Leave:
    """Go, and say goodbye."""

    target: Target
    name: str = "leave"
    undone: str = "join"

    def begin(self, strike: Strike) -> Undo | None:
        members, began = strike.stage.members, strike.cause
        return strike.while_it_lasts(
            lambda i: overlapping_absences.hold_away(members, i, began),
            lambda i, ended: overlapping_absences.let_back(members, i, ended, began),
        )


@dataclass(frozen=True, slots=True)
class Join:
    """Come, by the edges of the topology or by named ones."""

    target: Target
    edges: frozenset[int] | None = None
    name: str = "join"
    undone: str = "leave"

    def begin(self, strike: Strike) -> Undo | None:
        members, edges = strike.stage.members, self.edges
        return strike.while_it_lasts(
            lambda i: members.join(
                i,
                strike.cause,
                overlapping_absences.by_rule(members, i) if edges is None else edges,
            ),
            members.leave,
        )


@dataclass(frozen=True, slots=True)
class Pause:
    """Stand still: memory is kept, what arrives waits, wakes are missed."""

    target: Target
    name: str = "pause"
    undone: str = "resume"

    def begin(self, strike: Strike) -> Undo | None:
        members = strike.stage.members
        return strike.while_it_lasts(lambda i: members.pause(i, strike.cause), members.resume)


@dataclass(frozen=True, slots=True)
class Slow:
    """Compute `factor` times as long."""

    target: Target
    factor: float
    name: str = "slow"
    undone: str = "heal"

    def begin(self, strike: Strike) -> Undo | None:
        struck = [agent.plight for agent in strike.stage.agents(strike.hit)]
        for plight in struck:
            plight.slow(self.factor, on=True)

        def undo(_: int) -> None:
            for plight in struck:
                plight.slow(self.factor, on=False)

        return undo


@dataclass(frozen=True, slots=True)
class Churn:
    """Each agent comes and goes for itself: sessions and downtimes by turns, or as a trace says.

    `classes` are lifetime classes: each agent draws one, and all its sessions are so many times as long.
    """

    target: Target
    session: Duration | None
    downtime: Duration | None
    classes: tuple[float, ...] = (1.0,)
    trace: tuple[tuple[int, tuple[int, ...]], ...] = ()
    crashes: bool = False
    name: str = "churn"
    undone: str = "calm"

    def begin(self, strike: Strike) -> Undo | None:
        away = set[int]()
        over = [False]
        written = dict(self.trace)

        def turn(node: int, *, on: bool) -> None:
            if over[0]:
                return
            self._turn(
                strike.stage, node, strike.cause, strike.cause, away, on=on, crashes=self.crashes
            )

        for node in strike.hit:
            if self.session is None:
                self._follow(written.get(node), node, strike.stage, turn)
            else:
                strike.stage.clock.spawn(
                    self._alternate(node, strike.stage, f"{strike.path}/{node}", turn, over)
                )

        def undo(ended: int) -> None:
            over[0] = True
            for node in sorted(away):
                self._turn(
                    strike.stage, node, ended, strike.cause, away, on=True, crashes=self.crashes
                )

        return undo

    @staticmethod
    def _turn(
        stage: Stage, node: int, cause: int, began: int, away: set[int], *, on: bool, crashes: bool
    ) -> None:
        """Let one agent come or go; only who went for this fault comes back by it."""
        members = stage.members
        if not on:
            held = (
                overlapping_absences.hold_down(members, node, "nothing", cause)
                if crashes
                else overlapping_absences.hold_away(members, node, cause)
            )
            if held:
                away.add(node)
        elif node in away:
            away.discard(node)
            (overlapping_absences.let_up if crashes else overlapping_absences.let_back)(
                members, node, cause, began
            )

    @staticmethod
    def _follow(
        turns: tuple[int, ...] | None, node: int, stage: Stage, turn: Callable[..., None]
    ) -> None:
        """Go and come at the instants of a trace: it alternates, and begins with going."""
        now, past = stage.clock.now, 0
        for number, instant in enumerate(turns or ()):
            on = bool(number % 2)
            if instant > now:
                stage.clock.at(instant, FAULT, partial(turn, node, on=on))
            else:
                past += 1
        if past % 2:
            turn(node, on=False)

    async def _alternate(
        self, node: int, stage: Stage, path: str, turn: Callable[..., None], over: list[bool]
    ) -> None:
        draws: Draws = stage.stream(path)
        assert self.session is not None, "a churn has sessions or a trace"  # noqa: S101
        assert self.downtime is not None, "and downtimes"  # noqa: S101
        luck = int(draws(0, 1)[0] >> 32)
        factor = self.classes[luck * len(self.classes) >> 32]
        number = _FIRST_SESSION
        while not over[0]:
            session, downtime = (
                int(law.draw(draws(number + k, 1), number + k)[0])
                for k, law in enumerate((self.session, self.downtime))
            )
            await stage.clock.sleep_until(stage.clock.now + max(1, round(session * factor)), FAULT)
            turn(node, on=False)
            await stage.clock.sleep_until(stage.clock.now + max(1, downtime), FAULT)
            turn(node, on=True)
            number += 2


@dataclass(frozen=True, slots=True)
class Misjudge:
    """An agent's clock is off by an offset, drifts, jumps once and for all, or stands still."""

    target: Target
    kind: str
    amount: Fraction = Fraction(0)
    name: str = "clock"
    undone: str = "heal"

    def begin(self, strike: Strike) -> Undo | None:
        dials = [agent.plight.dial for agent in strike.stage.agents(strike.hit)]

        def turn(*, on: bool) -> None:
            for dial in dials:
                if dial is None:
                    continue
                match self.kind:
                    case "drift":
                        dial.drift(self.amount, on=on)
                    case "freeze":
                        dial.freeze(on=on)
                    case "offset" | "jump":
                        dial.step(int(self.amount) if on else -int(self.amount))
                    case kind:
                        raise NotImplementedError(f"a clock cannot be made to {kind!r}")

        turn(on=True)
        return lambda _: turn(on=False)
