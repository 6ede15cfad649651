"""What is aimed at: the lines of a table, and the goals of each."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Goal:
    """A bound on one measured figure; `at_least` turns it round."""

    name: str
    bound: float
    at_least: bool = False

    def met(self, value: float) -> bool:
        """Return whether a value keeps the bound."""
        return value >= self.bound if self.at_least else value <= self.bound

    def missed_by(self, value: float) -> float:
        """Return by which share of the bound a value misses it; negative where it is met with room."""
        return (self.bound / value if self.at_least else value / self.bound) - 1.0

    @property
    def words(self) -> str:
        """The bound; one that is far below 1 is a share."""
        bound = f"1/{1 / self.bound:.0f}" if self.bound < 0.1 else f"{self.bound:g}"
        return f"{'≥' if self.at_least else '≤'} {bound}"


@dataclass(frozen=True, slots=True)
class Line:
    """One line of the table: what is measured, what version 0.5.0 to 0.8.0 took, and its goals."""

    what: str
    before: str
    goals: tuple[Goal, ...]


LINES: tuple[Line, ...] = (
    Line(
        "A, n = 1,000 and 10,000, d = 100, in columns, against the bare SimPy + NumPy loop",
        "2.4–3.4",
        (Goal("A/1000/100/columns", 0.5), Goal("A/10000/100/columns", 0.5)),
    ),
    Line(
        "the same, d = 20; n = 100, d = 20",
        "–",
        (
            Goal("A/1000/20/columns", 0.4),
            Goal("A/10000/20/columns", 0.4),
            Goal("A/100/20/columns", 0.6),
        ),
    ),
    Line(
        "A against gossipy-dfl on its kind of work (100 nodes, d = 100, 50 wake-ups), CPU per update",
        "1/5.8–1/8.1",
        (Goal("gossipy/columns", 1 / 12),),
    ),
    Line(
        "plan, CPU per agent, at every n ≤ 10⁶",
        "quadratic",
        (
            Goal("plan/1000", 200.0),
            Goal("plan/10000", 200.0),
            Goal("plan/100000", 200.0),
            Goal("million/plan", 200.0),
        ),
    ),
    Line(
        "growth of CPU per update, n = 1,000 → 100,000, d = 20",
        "2.2",
        (Goal("growth/columns", 2.0),),
    ),
    Line(
        "memory per agent beyond its data (once) and model, n = 100,000, degree 10, d = 20",
        "46",
        (Goal("memory/100000/columns", 12.0),),
    ),
    Line(
        "n = 1,000,000, d = 20, 10–30 points, degree 10, 10 ticks each",
        "impossible",
        (
            Goal("million/loop", 150.0),
            Goal("million/command", 5.0),
            Goal("million/memory", 8.0),
        ),
    ),
    Line(
        "B, 5 / 100 nodes, against a bare loop with the same solver",
        "1.15 / 1.5",
        (
            Goal("B/5/1", 1.10),
            Goal("B/5/400", 1.10),
            Goal("B/100/1", 1.15),
            Goal("B/100/400", 1.15),
        ),
    ),
    Line(
        "C: wake-ups per second against bare SimPy processes with the same messages",
        "0.08",
        (Goal("C/events", 0.12, at_least=True),),
    ),
    Line("D against a vectorised NumPy loop", "21", (Goal("D/auto", 2.3),)),
    Line(
        "a sample, against 100 µs + 5 µs per agent",
        "40–60 µs an agent",
        (Goal("samples/100", 1.0), Goal("samples/1000", 1.0), Goal("samples/10000", 1.0)),
    ),
    Line(
        "E: watched at full speed: the screen's share of processor time",
        "4–7 %",
        (Goal("E/100", 5.0), Goal("E/1000", 5.0), Goal("E/10000", 5.0)),
    ),
    Line(
        "F: CPU over a bare interpreter: check quickstart; run ring5-dropout",
        "600; 1,260 ms",
        (Goal("F/check quickstart", 250.0), Goal("F/run ring5-dropout", 400.0)),
    ),
    Line(
        "PP, 30,000 releases",
        "409 s, 1.9 GB",
        (Goal("PP/cpu", 30.0), Goal("PP/memory", 0.3)),
    ),
    Line(
        "PP, 30,000 releases of a penalty that grows",
        "quadratic",
        (Goal("penalty/cpu", 30.0),),
    ),
)

GOALS: dict[str, Goal] = {goal.name: goal for line in LINES for goal in line.goals}
