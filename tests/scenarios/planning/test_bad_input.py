"""Broken scenarios: each with the exact message, exit code 2, no traceback, and nothing written."""

from collections.abc import Iterable
from pathlib import Path

import pytest

from scenarios.command.main import main
from scenarios.planning.clocks import CLOCKS
from scenarios.planning.data_sources import SOURCES
from scenarios.planning.fault_kinds import fault_kinds
from scenarios.planning.mechanism import MECHANISMS
from scenarios.planning.topologies import TOPOLOGIES
from tests.support.python import python


def names(family: Iterable[str]) -> str:
    """Return the names of all kinds as a message lists them: a new kind is in it by itself."""
    return ", ".join(sorted(family))


GOOD = """schema = 1
[run]
seed = 1
horizon = 5
[data]
source = "blobs"
dimension = 3
points = 20
[task]
l2 = 0.1
[network]
topology = "ring"
[[nodes]]
name = "peers"
count = 4
budget = { epsilon = 1.0 }
[mechanism]
kind = "cd"
noise = "laplace"
releases = 4
"""

FREE = GOOD.replace("budget = { epsilon = 1.0 }\n", "").replace(
    'noise = "laplace"\nreleases = 4\n', ""
)

# (what, text to replace, with what, where (line:column), message)
CASES: list[tuple[str, str, str, str, str]] = [
    (
        "unknown key",
        "seed = 1",
        "sed = 1",
        "3:1",
        "run.sed: unknown key 'sed'; did you mean 'seed'? (engine, horizon, rounds, sample_every, seed, stop, until, updates)",
    ),
    (
        "unknown table",
        "[run]",
        "[runn]",
        "2:1",
        "runn: unknown key 'runn'; did you mean 'run'? (data, expect, extends, fault, link, mechanism, name, network, nodes, origin, privacy, run, schema, seeds, server, summary, sweep, tags, targets, task)",
    ),
    (
        "wrong type",
        "seed = 1",
        'seed = "one"',
        "3:8",
        'run.seed: must be a whole number >= 0, got "one"',
    ),
    (
        "negative seed",
        "seed = 1",
        "seed = -1",
        "3:8",
        "run.seed: must be a whole number >= 0, got -1",
    ),
    (
        "schema of the future",
        "schema = 1",
        "schema = 2",
        "1:10",
        "schema: must be a whole number from 1 to 1, got 2",
    ),
    (
        "NaN",
        "horizon = 5",
        "horizon = nan",
        "4:11",
        'run.horizon: must be a duration, seconds or a text such as "250ms", "1.5s", "2m", "1h", "3d", got nan',
    ),
    (
        "infinite horizon",
        "horizon = 5",
        "horizon = inf",
        "4:11",
        "run.horizon: must be > 0 and finite, got inf",
    ),
    (
        "zero horizon",
        "horizon = 5",
        "horizon = 0",
        "4:11",
        "run.horizon: must be > 0 and finite, got 0",
    ),
    (
        "bad unit",
        "horizon = 5",
        'horizon = "5 weeks"',
        "4:11",
        'run.horizon: must be a duration, seconds or a text such as "250ms", "1.5s", "2m", "1h", "3d", got "5 weeks"',
    ),
    (
        "two ends",
        "horizon = 5",
        "horizon = 5\nupdates = 9",
        "5:1",
        "run.updates: exactly one of horizon, rounds, updates; got horizon and updates",
    ),
    (
        "rounds on Poisson clocks",
        "horizon = 5",
        "rounds = 5",
        "4:1",
        "run.rounds: rounds need every clock synchronous or barrier, got poisson",
    ),
    (
        "unknown source",
        'source = "blobs"',
        'source = "blob"',
        "6:10",
        f"data.source: unknown data source 'blob'; did you mean 'blobs'? ({names(SOURCES)})",
    ),
    (
        "no dimension at all",
        "dimension = 3",
        "dimension = 0",
        "7:13",
        "data.dimension: must be a whole number from 1 to 100000, got 0",
    ),
    (
        "points that are words",
        "points = 20",
        'points = "many"',
        "8:10",
        'data.points: must be a whole number >= 1 or { min, max }, got "many"',
    ),
    (
        "points the wrong way round",
        "points = 20",
        "points = { min = 9, max = 3 }",
        "8:10",
        "data.points: min must be at most max, got 9 and 3",
    ),
    (
        "sizes that do not add up",
        "points = 20",
        'points = 20\nsplit = { kind = "sizes", of = [5, 5] }',
        "5:1",
        "data: 'of' has 2 sizes for 4 agents",
    ),
    (
        "by-user without users",
        "points = 20",
        'points = 20\nsplit = "by-user"',
        "5:1",
        "data: by-user needs a data source that knows its users, such as movielens",
    ),
    (
        "negative l2",
        "l2 = 0.1",
        "l2 = -0.1",
        "10:6",
        'task.l2: must be a number >= 0 or "1/m", got -0.1',
    ),
    (
        "unknown loss",
        "l2 = 0.1",
        'l2 = 0.1\nloss = "hinge"',
        "11:8",
        "task.loss: unknown loss 'hinge'; known: logistic, smoothed-hinge, squared, welsch",
    ),
    (
        "a private start made of data",
        "l2 = 0.1",
        'l2 = 0.1\nstart = "local"',
        "11:9",
        'task.start: "local" is made of data and would be released free of charge; not with noise',
    ),
    (
        "a path outside the folder",
        "l2 = 0.1",
        'l2 = 0.1\nstart = { kind = "file", path = "../../etc/passwd" }',
        "11:9",
        "task.start: must stay in the scenario's folder or one named by --data, got ../../etc/passwd",
    ),
    (
        "an absolute path",
        'source = "blobs"\ndimension = 3\npoints = 20',
        'source = "files"\npath = "/etc"',
        "5:1",
        "data: must stay in the scenario's folder or one named by --data, got /etc",
    ),
    (
        "a missing file",
        'source = "blobs"\ndimension = 3\npoints = 20',
        'source = "files"\npath = "nowhere"',
        "5:1",
        "data: no such file: nowhere (searched the scenario's folder and --data)",
    ),
    (
        "unknown topology",
        'topology = "ring"',
        'topology = "rign"',
        "12:12",
        f"network.topology: unknown topology 'rign'; did you mean 'ring'? ({names(TOPOLOGIES)})",
    ),
    (
        "a grid that does not fit",
        'topology = "ring"',
        'topology = { kind = "grid", rows = 2, columns = 3 }',
        "12:12",
        "network.topology: a 2 × 3 grid has 6 agents, not 4",
    ),
    (
        "missing parameter",
        'topology = "ring"',
        'topology = "regular"',
        "12:1",
        "network.topology: needs 'degree'",
    ),
    (
        "impossible degree",
        'topology = "ring"',
        'topology = { kind = "regular", degree = 9 }',
        "12:12",
        "network.topology: regular over 4 agents: the 0 <= d < n inequality must be satisfied",
    ),
    (
        "an edge to nobody",
        'topology = "ring"',
        'topology = { kind = "edges", edges = [[0, 7]] }',
        "12:12",
        "network.topology: edge [0, 7] must join two different agents of 0 … 3",
    ),
    (
        "similarity without targets",
        'topology = "ring"',
        'topology = "similarity"',
        "12:12",
        "network.topology: similarity needs a data source with target models, such as separators",
    ),
    (
        "too much loss",
        'topology = "ring"',
        'topology = "ring"\nloss = 1.5',
        "13:8",
        "network.loss: must be a number from 0 to 1, got 1.5",
    ),
    (
        "unknown latency",
        'topology = "ring"',
        'topology = "ring"\nlatency = { kind = "normall", mean = 1 }',
        "13:20",
        "network.latency.kind: unknown distribution 'normall'; did you mean 'normal'? (cities, city-pairs, constant, exponential, gamma, lognormal, matrix, normal, pareto, trace, uniform, weibull)",
    ),
    (
        "a link without an edge",
        "[mechanism]",
        "[[link]]\nbetween = [[0, 2]]\nloss = 0.5\n[mechanism]",
        "17:1",
        "link.0: no edge joins 0 and 2",
    ),
    (
        "a link that changes nothing",
        "[mechanism]",
        "[[link]]\nbetween = [[0, 1]]\n[mechanism]",
        "17:1",
        "link.0: changes nothing: give latency, loss or rate",
    ),
    (
        "a link to nobody",
        "[mechanism]",
        "[[link]]\nfrom = 0\nto = 9\nloss = 0.5\n[mechanism]",
        "18:8",
        "link.0.from: no agent 9: ids run from 0 to 3",
    ),
    (
        "no agents",
        "count = 4",
        "count = 0",
        "15:9",
        "nodes.0.count: must be a whole number >= 1, got 0",
    ),
    (
        "negative rate",
        "count = 4",
        'count = 4\nclock = { kind = "poisson", rate = -1 }',
        "16:36",
        "nodes.0.clock.rate: must be > 0 and finite, got -1",
    ),
    (
        "unknown clock",
        "count = 4",
        'count = 4\nclock = "poison"',
        "16:9",
        f"nodes.0.clock: unknown clock 'poison'; did you mean 'poisson'? ({names(CLOCKS)})",
    ),
    (
        "two groups of one name",
        "[mechanism]",
        '[[nodes]]\nname = "peers"\nbudget = { epsilon = 1 }\n[mechanism]',
        "18:8",
        "nodes.1.name: two groups are called 'peers'",
    ),
    (
        "a reserved name",
        'name = "peers"',
        'name = "all"',
        "14:8",
        "nodes.0.name: 'all' is reserved",
    ),
    (
        "a barrier where messages are lost",
        'topology = "ring"\n[[nodes]]\nname = "peers"',
        'topology = "ring"\nlatency = 1\nloss = 0.1\n[[nodes]]\nclock = "barrier"\nname = "peers"',
        "16:9",
        "nodes.0.clock: a barrier needs a timeout where messages can be lost",
    ),
    (
        "a barrier that stands still",
        "count = 4",
        'count = 4\nclock = "barrier"',
        "16:9",
        "nodes.0.clock: barriers without latency or compute time never advance the time: give run.rounds",
    ),
    (
        "a trace of nobody",
        "count = 4",
        'count = 4\nclock = { kind = "trace", wakes = [[1, 8]] }',
        "16:9",
        "nodes.0.clock: no agent 8: ids run from 0 to 3",
    ),
    (
        "zero budget",
        "epsilon = 1.0",
        "epsilon = 0",
        "16:22",
        "nodes.0.budget.epsilon: must be a number > 0, got 0",
    ),
    (
        "delta of a whole record",
        "epsilon = 1.0",
        "epsilon = 1.0, delta = 0.5",
        "16:35",
        "nodes.0.budget.delta: delta = 0.5 allows publishing a record whole: the largest agent of peers has m = 20 points, and delta must be below 1/m; give at most 0.0499, or budget.delta_may_exceed = true",
    ),
    (
        "a budget alone",
        "releases = 4\n",
        "",
        "13:1",
        "nodes.0: the noise is not fixed: there is a budget; give mechanism.releases or mechanism.alpha",
    ),
    (
        "releases alone",
        "budget = { epsilon = 1.0 }\n",
        "",
        "13:1",
        "nodes.0: the noise is not fixed: there is releases; give a budget or mechanism.alpha",
    ),
    (
        "an impossible budget",
        "releases = 4",
        "releases = 4\nalpha = 0.5",
        "20:12",
        "mechanism.releases: 4 releases of 0.5 compose to ε = 2 (basic, δ = 1e-05), above the budget 1; 2 would fit",
    ),
    (
        "a release above the budget",
        "releases = 4",
        "alpha = 1.5",
        "20:9",
        "mechanism.alpha: one release of alpha = 1.5 is above the budget 1",
    ),
    (
        "a wrong Lipschitz norm",
        "releases = 4",
        "releases = 4\nlipschitz = { l2 = 1.0 }",
        "21:13",
        "mechanism.lipschitz: laplace noise takes a bound in one norm: lipschitz = { l1 = … }",
    ),
    (
        "a Lipschitz bound that is none",
        "releases = 4",
        "releases = 4\nlipschitz = { l1 = 1.0 }",
        "21:13",
        "mechanism.lipschitz: lipschitz.l1 = 1 is below what a gradient can reach, 1.73205; mechanism.clip would make it true",
    ),
    (
        "an unbounded gradient",
        "l2 = 0.1",
        'l2 = 0.1\nloss = "squared"',
        "18:1",
        'mechanism: the squared loss has no bounded gradient: give mechanism.clip, or task.loss = { kind = "squared", clip = … }',
    ),
    (
        "a scale made of data",
        "releases = 4",
        'releases = 4\nsmoothness = "data"',
        "21:14",
        'mechanism.smoothness: "data" enters every release and is not public; with noise use "bound" or a number',
    ),
    (
        "a budget that cannot be kept",
        'noise = "laplace"\nreleases = 4\n',
        "",
        "16:1",
        "nodes.0.budget: cd without noise has ε = ∞: it can keep no budget; set mechanism.noise",
    ),
    (
        "unknown mechanism",
        'kind = "cd"',
        'kind = "dc"',
        "18:8",
        f"mechanism.kind: unknown mechanism 'dc'; known: {names(MECHANISMS)}",
    ),
    (
        "code that nobody allowed",
        'kind = "cd"\nnoise = "laplace"\nreleases = 4',
        'kind = "mine:Thing"',
        "18:8",
        "mechanism.kind: 'mine:Thing' is code of the scenario's own: it runs only with --allow-code",
    ),
    (
        "a fault on nobody",
        "[mechanism]",
        "[[fault]]\nat = 1\ncrash = [3, 4]\n[mechanism]",
        "19:13",
        "fault.0.crash.1: no agent 4: ids run from 0 to 3",
    ),
    (
        "a fault on no group",
        "[mechanism]",
        '[[fault]]\nat = 1\ncrash = "pears"\n[mechanism]',
        "19:9",
        "fault.0.crash: no group 'pears'; did you mean 'peers'? (all, event, majority, minority, one, peers, server)",
    ),
    (
        "two actions",
        "[mechanism]",
        "[[fault]]\nat = 1\ncrash = [1]\nleave = [1]\n[mechanism]",
        "17:1",
        f"fault.0: needs exactly one action of {', '.join(kind.name for kind in fault_kinds())}; got crash and leave",
    ),
    (
        "a fault too late",
        "[mechanism]",
        "[[fault]]\nat = 9\ncrash = [1]\n[mechanism]",
        "18:6",
        "fault.0.at: is after the end of the run at 5 s",
    ),
    (
        "a restart that is undone",
        "[mechanism]",
        "[[fault]]\nat = 1\nfor = 2\nrestart = [1]\n[mechanism]",
        "19:1",
        "fault.0.for: restart is done once: there is nothing to undo",
    ),
    (
        "an expectation of nothing",
        "[mechanism]",
        '[[expect]]\nmetric = "loss.mean"\n[mechanism]',
        "17:1",
        "expect.0: needs exactly one of above, below, at_most, at_least, equals; got none",
    ),
    (
        "a metric without its aggregate",
        "[mechanism]",
        '[[expect]]\nmetric = "loss"\nbelow = 1\n[mechanism]',
        "18:10",
        "expect.0.metric: loss is per node: give an aggregate such as loss.mean, or node = …",
    ),
    (
        "within the end",
        "[mechanism]",
        '[[expect]]\nmetric = "gap"\nbelow = 1\nwithin = 3\n[mechanism]',
        "20:1",
        'expect.0.within: belongs to when = "eventually"',
    ),
    (
        "basic sums of Gaussian noise",
        'noise = "laplace"\nreleases = 4',
        'noise = "gaussian"\nreleases = 4\n[privacy]\nfilter = "basic"',
        "22:10",
        "privacy.filter: basic has no claim for Gaussian noise; use auto",
    ),
    (
        "a score of the other kind of loss",
        "[mechanism]",
        '[[expect]]\nmetric = "rmse.test.mean"\nbelow = 1\n[mechanism]',
        "18:10",
        "expect.0.metric: rmse means nothing for logistic loss; did you mean 'accuracy.test.mean'?",
    ),
    (
        "a target without its aggregate",
        "[mechanism]",
        '[targets]\ngood = { metric = "loss", below = 1 }\n[mechanism]',
        "18:19",
        "targets.good.metric: loss is per node: give an aggregate such as loss.mean, or node = …",
    ),
    (
        "a start of one's own",
        "l2 = 0.1",
        'l2 = 0.1\nstart = "mine:Thing"',
        "11:9",
        "task.start: unknown start 'mine:Thing'; known: file, local, random, zeros",
    ),
    (
        "the library by a path",
        "schema = 1",
        'schema = 1\nextends = "library:../library/quickstart"',
        "2:11",
        "extends: no scenario '../library/quickstart' in the library; did you mean 'quickstart'? (adult, asynchrony-sweep, asynchrony-sweep-synchronous, bursty-loss, churn-phones, clock-drift, consensus-poisson, crash-between-charge-and-send, errata/…, federated-dropout, late-joiner, lost-duals, lost-duals-integral, model-propagation, night-shift, papers/…, partition-heals, private-consensus, questions/…, quickstart, regional-outage, ring5-dropout, stragglers-barrier, synchronous-twin, wddp-as-printed)",
    ),
    (
        "a path with a null",
        "schema = 1",
        'schema = 1\nextends = "a\\u0000b"',
        "2:11",
        'extends: must be a path, got "a\\u0000b"',
    ),
    (
        "more samples than a disk holds",
        "horizon = 5",
        "horizon = 5\nsample_every = 1e-9",
        "5:16",
        "run.sample_every: gives up to 5e+09 samples; above 1,000,000 needs --allow-large",
    ),
    (
        "a folder of an origin that lists nothing",
        'topology = "ring"',
        'topology = { kind = "file", path = "etc/passwd" }\n[origin]\nfolder = "/"',
        "12:12",
        "network.topology: no such file: etc/passwd (searched the scenario's folder and --data; origin.folder counts in a run's own folder only)",
    ),
    (
        "countless releases",
        "releases = 4",
        "alpha = 1e-12",
        "20:9",
        "mechanism.alpha: the budget holds more than 1,000,000 releases of alpha = 1e-12: give mechanism.releases",
    ),
    (
        "a server's view without a server",
        "[mechanism]",
        '[privacy]\nviews = ["eavesdropper", "server"]\n[mechanism]',
        "18:26",
        'privacy.views.1: "server" needs a server, and cd has none: eavesdropper or outsider',
    ),
    (
        "a ratio to nothing",
        "[mechanism]",
        '[[expect]]\nmetric = "gap"\nratio_below = 2.0\n[mechanism]',
        "19:1",
        "expect.0.ratio_below: belongs to compared_to",
    ),
    (
        "two ways to compare",
        "[mechanism]",
        '[[expect]]\nmetric = "gap"\ncompared_to = "quickstart"\nratio_below = 2.0\nabove = 1\n[mechanism]',
        "17:1",
        "expect.0: compared_to needs exactly one of ratio_below, difference_below; got ratio_below and above",
    ),
    (
        "compared all the time",
        "[mechanism]",
        '[[expect]]\nmetric = "gap"\ncompared_to = "quickstart"\nratio_below = 2.0\nwhen = "always"\n[mechanism]',
        "21:1",
        'expect.0.when: what is compared with another scenario is judged at the "end"',
    ),
    (
        "compared with nobody",
        "[mechanism]",
        '[[expect]]\nmetric = "gap"\ncompared_to = "quikstart"\nratio_below = 2.0\n[mechanism]',
        "19:15",
        "expect.0.compared_to: no scenario 'quikstart' in the library, and no such file in this folder; did you mean 'quickstart'? (adult, asynchrony-sweep, asynchrony-sweep-synchronous, bursty-loss, churn-phones, clock-drift, consensus-poisson, crash-between-charge-and-send, errata/…, federated-dropout, late-joiner, lost-duals, lost-duals-integral, model-propagation, night-shift, papers/…, partition-heals, private-consensus, questions/…, quickstart, regional-outage, ring5-dropout, stragglers-barrier, synchronous-twin, wddp-as-printed)",
    ),
    (
        "compared with what is not ours",
        "[mechanism]",
        '[[expect]]\nmetric = "gap"\ncompared_to = "../../../../etc/passwd"\nratio_below = 2.0\n[mechanism]',
        "19:15",
        "expect.0.compared_to: no scenario '../../../../etc/passwd' in the library, and no such file in this folder; known: adult, asynchrony-sweep, asynchrony-sweep-synchronous, bursty-loss, churn-phones, clock-drift, consensus-poisson, crash-between-charge-and-send, errata/…, federated-dropout, late-joiner, lost-duals, lost-duals-integral, model-propagation, night-shift, papers/…, partition-heals, private-consensus, questions/…, quickstart, regional-outage, ring5-dropout, stragglers-barrier, synchronous-twin, wddp-as-printed",
    ),
    (
        "an attack on the wrong kind",
        "[mechanism]",
        '[[expect]]\nmetric = "attack.kkt"\nabove = 1\n[mechanism]',
        "18:10",
        "expect.0.metric: attack.kkt is on the ADMM family (admm, dvp, pvp, madmm, pp), not on cd",
    ),
    (
        "an audit all the time",
        "[mechanism]",
        '[[expect]]\nmetric = "epsilon.audited"\nabove = 1\nwhen = "always"\n[mechanism]',
        "20:8",
        'expect.0.when: epsilon.audited is found once, at the "end"',
    ),
    (
        "an audit as a target",
        "[mechanism]",
        '[targets]\ngood = { metric = "epsilon.audited", above = 1 }\n[mechanism]',
        "18:19",
        "targets.good.metric: epsilon.audited is found once, at the end: it is no target",
    ),
    (
        "an unknown view",
        "[mechanism]",
        '[privacy]\nviews = ["spy"]\n[mechanism]',
        "18:10",
        'privacy.views.0: must be one of its names, got "spy"; known: aggregate, eavesdropper, outsider, server',
    ),
    (
        "a dotted key of 40 kB",
        "[run]",
        "a" + ".a" * 20_000 + " = 1\n[run]",
        "2:1",
        "a dotted key has at most 8 parts",
    ),
    (
        "a very long key",
        "[run]",
        "a" * 40_000 + " = 1\n[run]",
        "2:1",
        "a key has at most 256 characters",
    ),
    (
        "arrays in arrays",
        "[run]",
        "x = " + "[" * 50_000 + "\n[run]",
        "2:8",
        "arrays nest at most 3 deep",
    ),
    ("tables in tables", "[run]", "[a.b.c.d.e.f]\n[run]", "2:1", "tables nest at most 5 deep"),
    ("no TOML", "seed = 1", "seed = = 1", "3:8", "not valid TOML: Invalid value"),
    (
        "a key given twice",
        "seed = 1",
        "seed = 1\nseed = 2",
        "4:9",
        "not valid TOML: Cannot overwrite a value",
    ),
    (
        "extends nobody",
        "schema = 1",
        'schema = 1\nextends = "library:quikstart"',
        "2:11",
        "extends: no scenario 'quikstart' in the library; did you mean 'quickstart'? (adult, asynchrony-sweep, asynchrony-sweep-synchronous, bursty-loss, churn-phones, clock-drift, consensus-poisson, crash-between-charge-and-send, errata/…, federated-dropout, late-joiner, lost-duals, lost-duals-integral, model-propagation, night-shift, papers/…, partition-heals, private-consensus, questions/…, quickstart, regional-outage, ring5-dropout, stragglers-barrier, synchronous-twin, wddp-as-printed)",
    ),
    (
        "extends outside",
        "schema = 1",
        'schema = 1\nextends = "../x.toml"',
        "2:11",
        "extends: must stay in the folder of the file, got ../x.toml",
    ),
    (
        "too many agents",
        "count = 4",
        "count = 60000",
        "13:1",
        "nodes: 60,000 nodes; above 50,000 needs --allow-large",
    ),
]


@pytest.mark.parametrize(
    ("what", "old", "new", "where", "message"), CASES, ids=[c[0] for c in CASES]
)
def test_a_broken_scenario_says_what_where_and_which(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    what: str,
    old: str,
    new: str,
    where: str,
    message: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    assert GOOD.count(old) == 1, f"{what}: the case replaces one place"
    (tmp_path / "x.toml").write_text(GOOD.replace(old, new), encoding="utf-8")
    code = main(["run", "./x.toml", "--quiet"])
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.splitlines()[0] == f"x.toml:{where}: {message}"
    assert "Traceback" not in said.err
    assert code == 2
    assert [p.name for p in tmp_path.iterdir()] == ["x.toml"], "nothing was written"


def test_the_good_one_is_good(tmp_path: Path) -> None:
    for text in (GOOD, FREE):
        (tmp_path / "x.toml").write_text(text, encoding="utf-8")
        assert (
            main(["run", str(tmp_path / "x.toml"), "--quiet", "--out", str(tmp_path / text[-9:-1])])
            == 0
        )


def test_every_error_is_told_at_once_with_a_caret(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    broken = (
        GOOD.replace("seed = 1", "sed = 1")
        .replace("l2 = 0.1", "l2 = -1")
        .replace("count = 4", "count = 1.5")
    )
    (tmp_path / "x.toml").write_text(broken, encoding="utf-8")
    assert main(["check", str(tmp_path / "x.toml")]) == 2
    lines = capsys.readouterr().err.splitlines()
    assert [line for line in lines if line.lstrip().startswith(("3 |", "10 |", "15 |"))] == [
        "    3 | sed = 1",
        "   10 | l2 = -1",
        "   15 | count = 1.5",
    ]
    assert lines[2] == "        ^"
    assert lines[5] == " " * 13 + "^"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ["run", "quikstart"],
            "no scenario 'quikstart' in the library; did you mean 'quickstart'?",
        ),
        (["run", "./nowhere.toml"], "./nowhere.toml: no such file"),
        (
            ["run", "quickstart", "--set", "network.loss=2"],
            "network.loss: must be a number from 0 to 1, got 2",
        ),
        (["run", "quickstart", "--set", "network.los=0.1"], "network.los: unknown key 'los'"),
        (
            ["run", "quickstart", "--set", "nodes.tablets.count=3"],
            "--set nodes.tablets.count: no group 'tablets'",
        ),
        (["run", "quickstart", "--set", "loss"], "--set loss: must be KEY=VALUE"),
        (["run", "quickstart", "--until", "soon"], "--until: must be a duration"),
        (["run", "quickstart", "--until", "0"], "--until: must be > 0"),
        (["run", "quickstart", "--speed", "-1"], "--speed: must be a number > 0 or max"),
        (
            ["show", "quickstrat"],
            "'quickstrat' is no run, no scenario, and no word of a scenario; did you mean 'quickstart' (a scenario)",
        ),
        (["show", "parreto"], "did you mean 'pareto' (a distribution)"),
        (["show", "zzzzzzzz"], "hush list has the scenarios"),
        (["plot", "nowhere", "loss"], "nowhere is not the folder of a run"),
        (["sweep", "quickstart", "--seeds", "9..0"], "--seeds: must be such as"),
        (["sweep", "quickstart"], "--seeds: say which"),
        (
            ["run", "quickstart", "--set", "fault.9.at=3"],
            "--set fault.9.at: no entry '9'; known: 0, 1",
        ),
        (
            ["run", "quickstart", "--set", "mechanism.kind={}"],
            "mechanism.kind: must be the name of a mechanism",
        ),
        (
            ["run", "quickstart", "--set", "network.loss=1\nx=2"],
            "network.loss: must be a number from 0 to 1",
        ),
        (["run", "quickstart", "--data", "nowhere"], "--data nowhere: is not a folder"),
        (["new", "nowhere/x.toml"], "cannot be written"),
        (["run", "quickstart", "--out", "/proc/nowhere"], "cannot be made"),
    ],
)
def test_a_wrong_word_on_the_command_line(
    arguments: list[str],
    message: str,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(arguments) == 2
    said = capsys.readouterr()
    assert message in said.err
    assert "Traceback" not in said.err
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_is_not_empty_is_left_alone(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "precious.txt").write_text("mine")
    assert main(["run", "ring5-dropout", "--out", str(tmp_path)]) == 2
    assert "exists and is not an empty folder: nothing was written" in capsys.readouterr().err
    assert [p.name for p in tmp_path.iterdir()] == ["precious.txt"]


INCOMPLETE = ("needs 'nodes'", "needs 'mechanism'")


@pytest.mark.parametrize(
    ("data", "messages"),
    [
        (b"\xff\xfe", ("must be UTF-8: invalid start byte",)),
        (b"x" * (1 << 20) + b"xx", ("a scenario file has at most 1 MiB",)),
        (b"", ("needs 'schema'", *INCOMPLETE)),
        (b"\xef\xbb\xbfschema = 1", INCOMPLETE),
    ],
    ids=["not UTF-8", "too long", "empty", "a byte order mark"],
)
def test_files_that_are_no_scenarios(
    tmp_path: Path, data: bytes, messages: tuple[str, ...]
) -> None:
    (tmp_path / "x.toml").write_bytes(data)
    told = python("-m", "hush", "check", "./x.toml", cwd=tmp_path)
    assert (told.returncode, told.stdout) == (2, "")
    assert told.stderr.splitlines() == [f"x.toml: {message}" for message in messages]
