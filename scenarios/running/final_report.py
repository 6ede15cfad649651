"""What is told and written when a run is over."""

import io
from typing import TYPE_CHECKING, Any

import numpy as np

from scenarios.records.summary import with_headline

if TYPE_CHECKING:
    from scenarios.running.run import Run


def faults(run: "Run") -> list[dict[str, Any]]:
    """How often each fault happened, and how many messages it touched."""
    declared = run.checks.declared
    return [
        {
            "name": fault.deed.name,
            "fired": fired,
            "struck": struck,
            "touched": sum(agent.outbox.touches[fault.number] for agent in run.members.agents),
        }
        for fault, fired, struck in zip(
            declared.faults, declared.fired, declared.struck, strict=True
        )
    ]


def invariants(run: "Run") -> dict[str, dict[str, Any]]:
    """What became of each invariant."""
    return {
        name: {"verdict": v.verdict, "first": v.first, "detail": v.detail}
        for name, v in run.checks.verdicts.items()
    }


def rounds(run: "Run") -> dict[str, int] | None:
    """How the server's rounds went."""
    if run.server is None:
        return None
    return {"rounds": run.server.rounds, "aborted": run.server.aborted}


def residual(run: "Run") -> float | None:
    """The largest gradient norm that any agent's solver took for a minimum."""
    found = [
        agent.mechanism.residual(agent.state)
        for agent in run.agents
        if hasattr(agent.mechanism, "residual")
    ]
    return max(found) if found else None


def local(run: "Run", values: dict[str, Any]) -> dict[str, Any] | None:
    """Loss and score of purely local learning, where the sample compared with it."""
    oracle, local = run.oracle, run.oracle.local if "gain" in values else None
    if local is None or not oracle.scores.has_test:
        return None
    scores = oracle.scores
    tested = float(scores.score(local, test=True).mean())
    return {scores.name: tested, "loss": float(scores.loss(local).mean())}


def write_end(run: "Run", summary: dict[str, Any]) -> None:
    """Write what is written once, at the end."""
    run.folder.write_json("summary.json", summary)
    verdicts = {
        "verdict": summary.get("verdict"),
        "invariants": summary.get("invariants"),
        "expectations": summary.get("expectations"),
    }
    run.folder.write_json("verdicts.json", verdicts)
    run.folder.write("resolved.toml", with_headline(run.amended, summary).encode())
    archive = io.BytesIO()
    models = {"theta": np.array([a.model for a in run.agents]), "released": _released(run)}
    if run.server is not None:
        models["server"] = run.server.model
    np.savez(archive, **models)
    run.folder.write("models.npz", archive.getvalue())
    _write_parquet(run)


def _released(run: "Run") -> Any:
    """The model in the last message that each node sent; NaN where it sent none."""
    d = run.plan.dimension
    last = [agent.store.published for agent in run.agents]
    return np.array([np.full(d, np.nan) if sent is None else sent[:d] for sent in last])


def _write_parquet(run: "Run") -> None:
    try:
        from pyarrow import csv, parquet  # type: ignore[import-not-found,unused-ignore]
    except ImportError:
        return
    sink = io.BytesIO()
    parquet.write_table(csv.read_csv(run.folder.path / "metrics.csv"), sink)
    run.folder.write("metrics.parquet", sink.getvalue())
