"""World A beside gossipy-dfl on its kind of work: 100 nodes, logistic regression in 100 dimensions, 50 wake-ups each.

It has an environment of its own, since it needs torch: `python3 -m venv PLACE && PLACE/bin/pip install gossipy-dfl`, and
`python -m benchmarks gossipy --gossipy PLACE/bin/python`. Processes of both are started in turns.

In gossipy-dfl a node pushes its model to one random neighbour at each wake-up, and its receiver averages and takes one step of
SGD on all its points: that is one update. In hush an agent merges all that it heard, takes one step of coordinate descent on
all its points, and sends to ten neighbours. There is no noise, no latency, no loss, and nothing is evaluated.
"""

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmarks import asynchronous
from benchmarks.measuring import Case, Setting, Skip, interleaved, micros, ratio
from benchmarks.report import Row

_TIMEOUT_S = 300
SCRIPT = """
import json, sys, time, warnings
warnings.filterwarnings("ignore")
import numpy as np, torch
torch.set_num_threads(1)
import gossipy
from gossipy.core import AntiEntropyProtocol, CreateModelMode, StaticP2PNetwork
from gossipy.model.handler import TorchModelHandler
from gossipy.model.nn import LogisticRegression
from gossipy.node import GossipNode
from gossipy.simul import GossipSimulator
nodes, d, wakes, low, high = json.loads(sys.argv[1])
gossipy.set_seed(1)
rng = np.random.default_rng(1)
adjacency = np.zeros((nodes, nodes))
for shift in range(1, 6):
    for i in range(nodes):
        adjacency[i, (i + shift) % nodes] = adjacency[(i + shift) % nodes, i] = 1
network = StaticP2PNetwork(nodes, adjacency)
class NoTest:
    def has_test(self):
        return False
updates = [0]
class Counted(TorchModelHandler):
    def _update(self, data):
        updates[0] += 1
        super()._update(data)
model = LogisticRegression(d, 2)
members = {}
for i in range(nodes):
    m = int(rng.integers(low, high + 1))
    x = torch.tensor(rng.standard_normal((m, d)) / d**0.5, dtype=torch.float32)
    y = torch.tensor((rng.random(m) > 0.5).astype(int))
    handler = Counted(
        model, torch.optim.SGD, {"lr": 0.1}, torch.nn.functional.cross_entropy,
        local_epochs=1, batch_size=0, create_model_mode=CreateModelMode.MERGE_UPDATE,
    )
    node = GossipNode(i, ((x, y), None), 10, handler, network, True)
    node.has_test = lambda: False
    members[i] = node
simulator = GossipSimulator(members, NoTest(), 10, AntiEntropyProtocol.PUSH)
simulator.init_nodes(seed=1)
updates[0] = 0
begun = time.process_time()
simulator.start(n_rounds=wakes)
print(json.dumps([time.process_time() - begun, updates[0]]))
"""


def world(n: int, d: int, wakes: int) -> dict[str, Any]:
    """Return the world of hush: no noise, no budget, no latency, no loss."""
    made = asynchronous.world(n, d, wakes)
    made["network"] = {"topology": made["network"]["topology"]}
    made["nodes"][0].pop("budget")
    made["mechanism"] = {"kind": "cd", "noise": "none", "mu": 1.0}
    return made


def peer(python: str, n: int, d: int, wakes: int) -> float:
    """Return the seconds of an update of gossipy-dfl; raise `Skip` where it cannot run."""
    if not python:
        raise Skip("no environment with gossipy-dfl was named (--gossipy PYTHON)")
    words = json.dumps([n, d, wakes, 10, 100])
    try:
        done = subprocess.run(
            [python, "-W", "ignore", "-c", SCRIPT, words],
            capture_output=True,
            timeout=_TIMEOUT_S,
            check=True,
            cwd=Path(__file__).parent,
        )
        spent, updates = json.loads(done.stdout.splitlines()[-1])
    except subprocess.CalledProcessError as error:
        last = error.stderr.decode("utf-8", "replace").strip().splitlines()
        raise Skip(f"{python} failed: {last[-1] if last else error.returncode}") from None
    except (OSError, subprocess.TimeoutExpired, ValueError, IndexError) as error:
        raise Skip(f"{python}: {error}") from None
    return float(spent) / int(updates)


def measure(setting: Setting, name: str, n: int, d: int, wakes: int) -> Iterator[Row]:
    """Yield hush over gossipy-dfl, CPU per update, by each path."""
    from benchmarks import hush_runs

    if setting.quick:
        n, wakes = 20, 2
    plan = hush_runs.plan_of(world(n, d, wakes))

    def hush(path: str) -> Case:
        def case() -> float:
            ran = hush_runs.execute(hush_runs.on_path(plan, path))
            return ran.loop / ran.run.members.updates

        return case

    cases: dict[str, Case] = {"gossipy-dfl": lambda: peer(setting.gossipy, n, d, wakes)}
    cases |= {path: hush(path) for path in hush_runs.PATHS}
    times = interleaved(cases, setting.repeat)
    theirs = times["gossipy-dfl"]
    for path in hush_runs.PATHS:
        what = f"hush, {path}, over gossipy-dfl: CPU per update"
        detail = {"hush µs": micros(times[path]), "gossipy-dfl µs": micros(theirs)}
        yield ratio(f"{name}/{path}", what, times[path], theirs, detail=detail)
