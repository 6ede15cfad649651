"""The commented scenario that `hush new` writes."""

TEMPLATE = """# A scenario of hush. Try: hush check THIS, hush run ./THIS, hush show cd
schema = 1
name = "NAME"
summary = "What this world is meant to show"

[run]
seed = 1                      # leave it out, and one is drawn, recorded and shown
horizon = "30s"               # or rounds = 100 (synchronous clocks and barriers), or updates = 2000

[data]
source = "separators"         # every agent has a separator of its own; also "blobs", "files"
dimension = 10
points = { min = 20, max = 100 }

[task]
loss = "logistic"             # or "smoothed-hinge", "squared", "welsch"
l2 = "1/m"

[network]
topology = { kind = "knn", k = 5 }        # ring, grid, regular, small-world, similarity, ...
latency = { kind = "lognormal", median = "50ms", sigma = 0.5 }
loss = 0.01

[[nodes]]
name = "phones"
count = 20
clock = { kind = "poisson", rate = 1.0 }  # or synchronous, barrier, periodic, trace
budget = { epsilon = 4.0, delta = 1e-4 }

[mechanism]
kind = "cd"
mu = 10
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
"""
