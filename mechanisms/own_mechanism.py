"""A mechanism of a scenario's own, behind a wrapper: it reads its data in the `finish` of a charged release, and nowhere else."""

import math
from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from mechanisms.accounting.spend import SCALES, Spend, implied_charge, is_understated
from mechanisms.mixing import Heard
from mechanisms.objectives import LocalObjective, Loss
from mechanisms.perturbation import FEATURE_BOUND
from mechanisms.strategy import DERIVED, RELEASE, SILENT, State, Step
from mechanisms.vectors import Vector

_NEEDED = ("begin", "model", "propose", "without_data", "planned")
"""What every mechanism has."""
_NUMBERS = ("scale", "sensitivity", "d", "jacobian", "claimed", "charged")
"""The fields of a spend that are numbers."""
_ABILITIES = ("costs", "duals", "opening", "recover", "schedule", "share")
"""The methods of `mechanisms.abilities` that a class of one's own may have, beside `derives`.

Those that an oracle asks (`noise_to_step`, `explain` and the like) read data outside of a release: they are left out. So is
`release`, which is `propose` and `finish` in one call.
"""


class OwnCodeError(ValueError):
    """Code of a scenario's own breaks a rule of mechanisms."""

    def __init__(self, problem: str, agent: int, place: str = "") -> None:
        """Take the rule that is broken; `place` is file:line of the code, where no line of the traceback is in it."""
        super().__init__(problem, agent, place)
        self.problem, self.agent, self.place = problem, agent, place
        self.when = ""
        """The instant and the last event of a run; empty before it."""

    def __str__(self) -> str:
        """Return agent, instant and rule."""
        return f"agent {self.agent}{self.when and ', '}{self.when}: {self.problem}"


class ClosedObjective:
    """An agent's objective as code of a scenario's own sees it: public facts always, data only while it is open.

    While it is closed it holds no reference to the data. Every name of `LocalObjective` that is not among the public facts
    is refused then, so that a name which is added there is refused, too.
    """

    __slots__ = (
        "_agent",
        "_data",
        "caller",
        "dimension",
        "feature_bound",
        "l2",
        "loss",
        "points",
        "weight",
    )

    def __init__(self, objective: LocalObjective, agent: int) -> None:
        self._agent = agent
        self._data: LocalObjective | None = None
        self.caller = "__init__"
        """What is under way, for messages."""
        self.points: int = objective.points
        self.dimension: int = objective.dimension
        self.weight: float = objective.weight
        self.l2: float = objective.l2
        self.loss: Loss = objective.loss
        self.feature_bound = FEATURE_BOUND
        """No record's features are longer than this, in L2."""

    def __getattr__(self, name: str) -> Any:
        """Return what is no public fact: a method that reads data when it is called, or data."""
        if name.startswith("__") or not hasattr(LocalObjective, name):
            raise AttributeError(f"an objective has no {name!r}", name=name, obj=self)
        if callable(getattr(LocalObjective, name)):
            return partial(self._call, name)
        return getattr(self._opened(name), name)

    def _call(self, name: str, *arguments: Any, **keywords: Any) -> Any:
        return getattr(self._opened(name), name)(*arguments, **keywords)

    def _opened(self, name: str) -> LocalObjective:
        if self._data is None:
            raise OwnCodeError(
                f"{self.caller} reads objective.{name}: only the finish of a release reads data, after its charge; before it, "
                "objective has points, dimension, weight, l2, loss and feature_bound",
                self._agent,
            )
        return self._data

    def open(self, data: LocalObjective) -> None:
        """Let data be read from now on."""
        self._data = data

    def close(self) -> None:
        """Refuse data from now on."""
        self._data = None


class OwnMechanism:
    """A mechanism of a scenario's own, whose objective is open in the `finish` of a charged release only.

    The steps that it returns are its own copies: of one of the three kinds, with a spend where they are releases, and with
    vectors as long as those that neighbours hold. Whatever breaks that is an `OwnCodeError`.
    """

    def __init__(
        self, own: Any, view: ClosedObjective, objective: LocalObjective, agent: int
    ) -> None:
        """Wrap a mechanism that was made with `view`; raise OwnCodeError where it lacks what every mechanism has."""
        self._own, self._view, self._objective, self._agent = own, view, objective, agent
        self._width: int | None = None
        lacking = [name for name in _NEEDED if not self._has(name)]
        if lacking:
            raise self._error(
                f"{type(own).__name__} has no {', '.join(lacking)}: a mechanism has {', '.join(_NEEDED)}"
            )
        checked = {"costs": self._costs, "opening": self._opening, "schedule": self._schedule}
        for name in _ABILITIES:
            if self._has(name):
                setattr(self, name, checked.get(name) or partial(self._ask, name))
        if self._has("derives"):
            self.derives = bool(own.derives)

    def _has(self, name: str) -> bool:
        self._view.caller = name  # a property is called for that
        return hasattr(self._own, name)

    @property
    def planned(self) -> int | None:
        """How many releases it will make; None when every wake makes one."""
        self._view.caller = "planned"
        planned = self._own.planned
        if planned is None or (isinstance(planned, int | np.integer) and planned >= 0):
            return planned if planned is None else int(planned)
        raise self._error(
            f"planned is {planned!r}: it is a whole number of releases, or None where every wake makes one"
        )

    def begin(self, start: Vector) -> State:
        """Return the state before the first wake."""
        return self._ask("begin", start)

    def model(self, state: State) -> Vector:
        """Return the model that a state holds: NaN where it holds none that the task scores."""
        model = self._model(state)
        return np.full(self._view.dimension, np.nan) if model is None else model

    def has_model(self, state: State) -> bool:
        """Whether a state holds a model that the task scores: numbers."""
        model = self._model(state)
        return model is not None and bool(np.isfinite(model).all())

    def _model(self, state: State) -> Vector | None:
        model, d = self._ask("model", state), self._view.dimension
        if model is None:
            return None
        array = _as_vector(model)
        if array is None or array.shape != (d,):
            raise self._error(
                f"model(state) returns {_shape(model, array)}, and the task scores vectors of shape ({d},), the dimension of "
                "the data; return None where the state is no such model: then it is not scored",
                getattr(self._own, "model", None),
            )
        return array

    def propose(self, state: State, heard: Heard, made: int) -> Step:
        """Return a step that reads no data before its charge."""
        return self._checked("propose", self._ask("propose", state, heard, made))

    def without_data(self, state: State, heard: Heard) -> Step:
        """Return a step that reads no data."""
        step = self._checked("without_data", self._ask("without_data", state, heard))
        if step.kind == RELEASE:
            raise self._error(
                "without_data returns a release: an agent without budget reads no data",
                getattr(self._own, "without_data", None),
            )
        return step

    def _checked(self, caller: str, step: object) -> Step:
        """Return a step of one's own as a plain one, whose `finish` opens the objective where it is a release."""
        method = getattr(self._own, caller, None)
        if not isinstance(step, Step):
            raise self._error(f"{caller} returns {_kind(step)}, not a Step", method)
        kind, spend, finish = step
        match kind:
            case "release":
                if not isinstance(spend, Spend):
                    raise self._error(
                        f"{caller} returns a release whose spend is {_kind(spend)}, not a Spend: a release is charged",
                        method,
                    )
                return Step(RELEASE, self._spend(caller, spend), partial(self._release, finish))
            case "derived" | "silent":
                if spend is not None:
                    raise self._error(
                        f"{caller} returns a {kind} step with a spend: only a release is charged",
                        method,
                    )
                plain = DERIVED if kind == "derived" else SILENT
                return Step(plain, None, partial(self._finish, plain, finish))
            case _:
                raise self._error(
                    f"{caller} returns a step of kind {kind!r}: there are release, derived and silent",
                    method,
                )

    def _release(
        self, finish: Callable[..., Any], rng: np.random.Generator | None
    ) -> tuple[State, Vector | None]:
        """Finish a release, which was charged: the objective is open meanwhile."""
        self._view.open(self._objective)
        try:
            return self._finish(RELEASE, finish, rng)
        finally:
            self._view.close()

    def _finish(
        self, kind: str, finish: Callable[..., Any], rng: np.random.Generator | None
    ) -> tuple[State, Vector | None]:
        self._view.caller = f"the finish of a {kind} step"
        after = self._call(self._view.caller, finish, rng)
        if not isinstance(after, tuple) or len(after) != 2:
            problem = f"the finish of a {kind} step returns {_kind(after)}, not a pair of the next state and what is sent"
            raise self._error(problem, finish)
        state, sent = after
        if kind == SILENT and sent is not None:
            raise self._error("the finish of a silent step sends a vector: it is None", finish)
        if kind == DERIVED and sent is None:
            raise self._error(
                "the finish of a derived step sends None: a step that sends nothing is silent",
                finish,
            )
        return state, None if sent is None else self._sendable(kind, sent, finish)

    def _sendable(self, kind: str, sent: object, finish: Callable[..., Any]) -> Vector:
        """Return a copy of what is sent, which later changes of the state leave alone."""
        d, vector = self._view.dimension, _as_vector(sent)
        if self._width is None:
            self._width = len(self._opening(np.zeros(d))) if "opening" in vars(self) else d
        if vector is None or vector.shape != (self._width,):
            of = "the dimension of the data" if self._width == d else "the length of opening(start)"
            raise self._error(
                f"a {kind} step sends {_shape(sent, vector)}, and neighbours hold vectors of shape ({self._width},), {of}; "
                "send so many numbers, or let opening(start) return what neighbours hold before anything was sent, as long "
                "as what is sent",
                finish,
            )
        return vector

    def _ask(self, name: str, *arguments: Any) -> Any:
        """Call a method of one's own, with the objective closed."""
        self._view.caller = name
        return self._call(name, getattr(self._own, name), *arguments)

    def _call(self, words: str, code: Any, *arguments: Any) -> Any:
        """Call code of one's own; what cannot be called so is told as that, for no line of its own is in the traceback."""
        try:
            return code(*arguments)
        except (StopIteration, GeneratorExit, OSError, MemoryError) as error:
            # Around an actor each of them has a meaning of its own: the end of a coroutine, a full disk.
            raise self._error(f"{words} raises {type(error).__name__}: {error}", code) from None
        except TypeError as error:
            if error.__traceback__ is not None and error.__traceback__.tb_next is not None:
                raise
            problem = f"{words} is called with {len(arguments)} arguments: {error}"
            raise self._error(problem, code) from None

    def _schedule(self, degree: int) -> tuple[Spend, ...] | None:
        spends = self._ask("schedule", degree)
        return None if spends is None else self._all_spends("schedule", spends)

    def _costs(self, degree: int, count: int) -> tuple[Spend, ...]:
        return self._all_spends("costs", self._ask("costs", degree, count))

    def _all_spends(self, name: str, spends: object) -> tuple[Spend, ...]:
        listed = tuple(spends) if isinstance(spends, Iterable) else (spends,)
        if not all(isinstance(spend, Spend) for spend in listed):
            problem = f"{name} returns {_kind(spends)}, not a tuple of Spend"
            raise self._error(problem, getattr(self._own, name))
        return tuple(self._spend(name, spend) for spend in listed)

    def _spend(self, name: str, spend: Spend) -> Spend:
        """Return a spend in plain numbers; refuse what no ledger holds, and a charge that its readers would not believe."""
        method = getattr(self._own, name, None)
        plain: dict[str, Any] = {}
        for key in _NUMBERS:
            value = getattr(spend, key)
            try:
                plain[key] = float(value)
            except (TypeError, ValueError):
                plain[key] = math.nan
            endless = key in {"sensitivity", "claimed", "charged"} and plain[key] == math.inf
            if not (0 <= plain[key] < math.inf or endless):
                problem = (
                    f"{name} returns a spend whose {key} is {value!r}: it is a number, 0 or more"
                )
                raise self._error(problem, method)
        if plain["d"] != int(plain["d"]):
            raise self._error(f"{name} returns a spend whose d is {spend.d!r}: it is whole", method)
        spend = replace(spend, **plain | {"d": int(plain["d"])})
        if is_understated(spend):
            raise self._error(
                f"{name} returns a spend that charges {spend.charged:.6g}, and its own fields give "
                f"{implied_charge(spend):.6g}: {SCALES[spend.law]} {spend.scale:g}, sensitivity {spend.sensitivity:g}",
                method,
            )
        return spend

    def _opening(self, start: Vector) -> Vector:
        opening = self._ask("opening", start)
        array = _as_vector(opening)
        if array is None or array.ndim != 1:
            problem = f"opening(start) returns {_shape(opening, array)}, not one row of numbers"
            raise self._error(problem, getattr(self._own, "opening", None))
        return array

    def _error(self, problem: str, code: object = None) -> OwnCodeError:
        """Return the error of a rule that is broken; `code` is the function that broke it."""
        return OwnCodeError(problem, self._agent, _place(code))


def _as_vector(value: object) -> Vector | None:
    """Return a copy of numbers as an array; None where it holds anything else."""
    try:
        array = np.array(value)
    except (TypeError, ValueError):
        return None
    return array.astype(np.float64) if array.dtype.kind in "biuf" else None


def _shape(value: object, array: Vector | None) -> str:
    """Return what a vector is, in words."""
    return _kind(value) if array is None else f"a vector of shape {array.shape}"


def _kind(value: object) -> str:
    """Return what a value is, in words."""
    return "None" if value is None else f"a value of type {type(value).__name__}"


def _place(code: object) -> str:
    """Return file:line of a function; empty where it has no source."""
    source = getattr(code, "__code__", None)
    return "" if source is None else f"{Path(source.co_filename).name}:{source.co_firstlineno}"
