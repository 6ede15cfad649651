"""The commented scenario that `hush new` writes."""

import re


def scenario_called(stem: str) -> str:
    """Return the text of a scenario; its name is that of the file, made of what a name may consist of."""
    name = re.sub(r"[^A-Za-z0-9._-]+", "-", stem).lstrip("._-")[:100]
    return TEMPLATE.replace("NAME", name.rstrip("-") or "scenario")


TEMPLATE = """#:schema ./hush.schema.json
# A scenario of hush. Try: hush check THIS, hush run ./THIS, hush show cd
# Thirty agents have one task, few points each, and four labels in ten are wrong. Alone they reach a test
# accuracy of 0.86, together 0.99, with noise for a budget of 4: a gain of 0.13 ± 0.01 over the seeds 1 to 10.
schema = 1
name = "NAME"
summary = "What this world is meant to show"

[run]
seed = 1                      # leave it out, and one is drawn, recorded and shown
horizon = "30s"               # or rounds = 100 (synchronous clocks and barriers), or updates = 2000

[data]
source = "blobs"              # one task for all; "separators": each agent has a task of its own; also "files"
dimension = 10
points = { min = 20, max = 60 }
flip = 0.4                    # the share of wrong labels among the points to learn from

[task]
loss = "logistic"             # or "smoothed-hinge", "squared", "welsch"
l2 = "1/m"

[network]
topology = { kind = "small-world", degree = 6, rewire = 0.1 }   # or ring, grid, regular, knn, ...
latency = { kind = "lognormal", median = "50ms", sigma = 0.5 }
loss = 0.01

[[nodes]]
name = "phones"
count = 30
clock = { kind = "poisson", rate = 1.0 }  # or synchronous, barrier, periodic, trace
budget = { epsilon = 4.0, delta = 1e-4 }

[mechanism]
kind = "cd"
mu = 1                        # the weight of an agent's own loss against its neighbours' models
noise = "gaussian"            # none, laplace, norm-gamma, gaussian
releases = 10                 # the budget is shared out over so many

[[fault]]
at = "10s"
for = "5s"
crash = [3]

[[expect]]
metric = "epsilon.max"
at_most = 4.0
when = "always"

[[expect]]
metric = "gain.mean"          # test accuracy minus that of every agent alone
above = 0.0
"""
