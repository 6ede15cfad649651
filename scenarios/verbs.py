"""What each verb of the command does; numeric packages are loaded only by those that need them."""

import argparse
import asyncio
import json
import math
import sys
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Any

from scenarios.problem import Problem, ScenarioError, nearest
from scenarios.read import LIBRARY, library_names, load, read_text

if TYPE_CHECKING:
    from scenarios.conduct import Outcome, Run
    from scenarios.plan import Plan


def say(text: str = "", *, error: bool = False) -> None:
    """Write a line."""
    (sys.stderr if error else sys.stdout).write(text + "\n")


def settings(pairs: list[str]) -> dict[str, Any]:
    """Read `--set KEY=VALUE`: a TOML value, else a text."""
    found = {}
    for pair in pairs:
        key, separator, value = pair.partition("=")
        if not separator or not key:
            raise ScenarioError(
                [Problem(f"--set {pair}", "must be KEY=VALUE, such as network.loss=0.1")]
            )
        try:
            found[key.strip()] = tomllib.loads(f"v = {value}")["v"]
        except (tomllib.TOMLDecodeError, ValueError, RecursionError):
            found[key.strip()] = value
    return found


def seconds(text: str | None) -> float | None:
    """Read a duration of the command line."""
    if text is None:
        return None
    from scenarios.schema import number_of_seconds  # noqa: PLC0415

    try:
        value = number_of_seconds(float(text) if _numeric(text) else text)
    except ValueError as error:
        raise ScenarioError([Problem("--until", str(error))]) from None
    if not 0 < value < 9e9:
        raise ScenarioError([Problem("--until", f"must be > 0 and finite, got {text}")])
    return value


def _numeric(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def pace(text: str | None) -> float | None:
    """Read `--speed`: a number above 0, or max."""
    if text is None or text == "max":
        return None if text is None else math.inf
    if _numeric(text) and float(text) > 0:
        return float(text)
    raise ScenarioError([Problem("--speed", f"must be a number > 0 or max, got {text}")])


def _plan(chosen: argparse.Namespace, scenario: str, **more: Any) -> "Plan":
    # What the file itself says is judged before NumPy is loaded: errors come at once.
    from scenarios.judge import judge  # noqa: PLC0415

    loaded = load(scenario, settings(chosen.set))
    judge(loaded.read, loaded.report)
    loaded.report.stop_if_any()
    from scenarios.api import make_plan  # noqa: PLC0415

    return make_plan(
        scenario,
        seed=getattr(chosen, "seed", None),
        set=settings(chosen.set),
        folders=tuple(Path(p) for p in chosen.data),
        allow_code=chosen.allow_code,
        allow_large=chosen.allow_large,
        **more,
    )


def run(chosen: argparse.Namespace) -> int:
    """One run, watched as the terminal allows."""
    until, speed = seconds(chosen.until), pace(chosen.speed)
    plan = _plan(chosen, chosen.scenario, until=until, engine=chosen.engine)
    from scenarios.conduct import Run  # noqa: PLC0415
    from scenarios.folder import choose  # noqa: PLC0415
    from scenarios.governor import Hand  # noqa: PLC0415

    live = _live(chosen)
    path = choose(plan.name, plan.seed, chosen.out)
    if speed is None:
        watchable = live == "full" and plan.horizon is not None
        speed = plan.horizon / 40e9 if watchable and plan.horizon else math.inf
        if plan.engine == "wall" and not watchable:
            speed = 1.0
    hand = Hand(speed=speed if plan.engine == "virtual" else math.inf, watched=live == "full")
    wall_speed = 1e12 if speed == math.inf else speed
    made = Run(plan, path, hand, wall_speed)
    outcome = asyncio.run(_watched(made, live, ascii_only=chosen.ascii))
    code = outcome.code
    _tell(outcome, live)
    if chosen.twice and code not in {74, 130}:
        code = _again(plan, outcome, wall_speed) or code
    return code


def _live(chosen: argparse.Namespace) -> str:
    if chosen.quiet:
        return "off"
    if chosen.live != "auto":
        return str(chosen.live)
    from scenarios.observers.console import can_be_full  # noqa: PLC0415

    return "full" if can_be_full() else "lines"


async def _watched(made: "Run", live: str, *, ascii_only: bool) -> "Outcome":
    if live == "full":
        from scenarios.observers.console import LiveScreen  # noqa: PLC0415

        screen = LiveScreen(made, ascii_only=ascii_only)
        outcome: Outcome = await screen.watch(made.perform())
        return outcome
    if live in {"lines", "json"}:
        from scenarios.observers.lines import Lines  # noqa: PLC0415

        lines = Lines(made.plan, say, as_json=live == "json")
        made.log.watch(lines, lines.kinds)
    return await made.perform()


def _tell(outcome: "Outcome", live: str) -> None:
    from scenarios.summary import in_words  # noqa: PLC0415

    if outcome.message:
        say(f"hush: {outcome.message}", error=True)
    if not outcome.summary:
        say(f"the run's folder: {outcome.folder}", error=True)
        return
    if live == "json":
        say(json.dumps({"kind": "summary", "folder": str(outcome.folder), **outcome.summary}))
    else:
        say("\n".join(in_words(outcome.summary)))
        say(
            f"\n  {outcome.folder}  ({outcome.summary['wall_s']:.2f} s, {outcome.summary['updates_per_s']:,.0f} updates/s)"
        )
        say(f"  look again: hush show {outcome.folder}    hush plot {outcome.folder} loss")


def _again(plan: "Plan", first: "Outcome", speed: float) -> int:
    """Run the same plan again and compare, event by event."""
    import tempfile  # noqa: PLC0415

    from scenarios.conduct import DIVERGENT, Run  # noqa: PLC0415
    from scenarios.folder import events, read_manifest  # noqa: PLC0415
    from scenarios.governor import Hand  # noqa: PLC0415

    with tempfile.TemporaryDirectory(prefix="hush-twice-") as folder:
        made = Run(plan, Path(folder) / "run", Hand(), speed)
        second = asyncio.run(made.perform())
        former, latter = (read_manifest(o.folder)["digests"] for o in (first, second))
        if former == latter:
            say(
                f"  twice the same: schedule {former['schedule'][:16]}…, value {former['value'][:16]}…",
                error=True,
            )
            return 0
        for one, other in zip(events(first.folder), events(second.folder), strict=False):
            one.pop("late_ns", None), other.pop("late_ns", None)
            if one != other:
                say(
                    f"hush: two runs of one seed part at event {one['seq']}: {one} against {other}",
                    error=True,
                )
                break
        return DIVERGENT


def check(chosen: argparse.Namespace) -> int:
    """Judge scenarios without running them."""
    code, found = 0, []
    for scenario in chosen.scenario:
        try:
            plan = _plan(chosen, scenario)
        except ScenarioError as error:
            code = 2
            found.append(
                {"scenario": scenario, "ok": False, "problems": [str(p) for p in error.problems]}
            )
            if not chosen.json:
                say(str(error), error=True)
            continue
        from scenarios.forecast import forecast, in_words  # noqa: PLC0415

        told = forecast(plan)
        found.append({"ok": True, **told})
        if not chosen.json:
            say("\n".join(in_words(told)))
    if chosen.json:
        say(json.dumps(found, indent=2, ensure_ascii=False))
    return code


def list(chosen: argparse.Namespace) -> int:  # noqa: A001 # the verb's name
    """The library, with what each scenario shows."""
    found = {name: load(name).read.get("summary", "") for name in library_names()}
    if chosen.json:
        say(
            json.dumps(
                [{"name": n, "summary": s} for n, s in found.items()], indent=2, ensure_ascii=False
            )
        )
    else:
        say("\n".join(f"{name:<20} {summary}" for name, summary in found.items()))
    return 0


def show(chosen: argparse.Namespace) -> int:
    """A run, a scenario or a mechanism: whatever the word names."""
    path = Path(chosen.what)
    if (path / "manifest.json").exists():
        return _show_run(path, as_json=chosen.json)
    if chosen.what in library_names() or path.is_file():
        text = read_text(
            LIBRARY / f"{chosen.what}.toml" if chosen.what in library_names() else path
        )
        say(
            json.dumps({"name": chosen.what, "text": text}, ensure_ascii=False)
            if chosen.json
            else text.rstrip()
        )
        return 0
    from dataclasses import asdict  # noqa: PLC0415

    from scenarios.catalog import CARDS  # noqa: PLC0415
    from scenarios.grammar import MECHANISMS  # noqa: PLC0415
    from scenarios.tables import ABSENT  # noqa: PLC0415

    if chosen.what not in CARDS:
        hint = nearest(chosen.what, [*CARDS, *library_names()])
        raise ScenarioError(
            [Problem("", f"'{chosen.what}' is no mechanism, scenario or run; {hint}")]
        )
    card = asdict(CARDS[chosen.what])
    fields = {
        k: None if f.default is ABSENT else f.default for k, f in MECHANISMS[chosen.what].items()
    }
    if chosen.json:
        say(json.dumps({**card, "parameters": fields}, indent=2, ensure_ascii=False))
        return 0
    say(f"{card.pop('kind')}: {card.pop('title')}\n")
    for key, value in card.items():
        say(f"  {key:<10} {value}")
    for key, value in fields.items():
        say(f"  {'parameter':<10} {key}" + ("" if value is None else f" = {json.dumps(value)}"))
    return 0


def _show_run(path: Path, *, as_json: bool) -> int:
    from scenarios.folder import whole  # noqa: PLC0415
    from scenarios.result import Result  # noqa: PLC0415
    from scenarios.summary import in_words  # noqa: PLC0415

    result = Result(path)
    summary = result.summary
    if as_json:
        say(json.dumps(summary, indent=2, ensure_ascii=False))
    elif summary.get("status") == "cut off":
        say(
            f"{summary['scenario']} · seed {summary['seed']} · cut off at {summary['ended_s']:g} s; counted from its events"
        )
        say(
            "\n".join(
                f"  {k:<10} {v}"
                for k, v in summary.items()
                if k in {"updates", "releases", "refused", "derived", "messages"}
            )
        )
    else:
        say("\n".join(in_words(summary)))
        intact = "files are what their checksums say" if whole(path) else "CHECKSUMS DO NOT MATCH"
        say(
            f"\n  {path}: {intact}; schedule {result.manifest['digests'].get('schedule', '')[:16]}…"
        )
    return 0


def new(chosen: argparse.Namespace) -> int:
    """Write a commented scenario to start from."""
    from scenarios.template import TEMPLATE  # noqa: PLC0415

    path = Path(chosen.file)
    if path.exists():
        raise ScenarioError([Problem(chosen.file, "exists already: nothing was written")])
    path.write_text(TEMPLATE.replace("NAME", path.stem), encoding="utf-8")
    say(
        f"{path} is written; next: hush check {path}, then hush run {path if '/' in chosen.file else f'./{path}'}"
    )
    return 0


def plot(chosen: argparse.Namespace) -> int:
    """Draw one metric of a run."""
    from scenarios.plots import draw  # noqa: PLC0415

    out = draw(Path(chosen.run), chosen.what, chosen.x, chosen.out)
    say(str(out))
    return 0


def sweep(chosen: argparse.Namespace) -> int:
    """Run one scenario under many seeds."""
    from scenarios.grid import sweep_seeds  # noqa: PLC0415

    _plan(chosen, chosen.scenario)
    return sweep_seeds(chosen, settings(chosen.set))
