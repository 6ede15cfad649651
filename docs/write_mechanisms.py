"""Write docs/mechanisms.md from the cards and the grammar.

python docs/write_mechanisms.py
"""

import re
from pathlib import Path

from scenarios.command.word_card import as_tree
from scenarios.planning.mechanism import in_order
from scenarios.planning.vocabulary.mechanism import KIND

PAGE = Path(__file__).parent / "mechanisms.md"

HEAD = """# Mechanisms

Every kind of `[mechanism]`, as `hush show KIND` tells it. Adjacency everywhere: replace one record of one agent; sizes are public. Written by
`docs/write_mechanisms.py` from the code; a test holds the two together.

**Corrected and as printed.** Private kinds take `calibration`. `corrected`, the default, is scaled so that the promise holds. `as_printed` draws what the paper's
listing draws, for reproduction: the ledger is charged what that truly costs, the claim is kept beside it (`epsilon.claimed`), `hush check` says the difference in
words, and the budget sets the noise but holds nothing: every planned release is made.

**Duals.** In the ADMM family λ_ij = θ/2 (∫f_i − ∫f_j) over what both ends broadcast, in ticks: the mean time between wakes of the network, or rounds where every clock is a
barrier. A message carries value, integral and time, so one message heals whatever was lost; the edge of a neighbour that left is 0, and begins anew when it returns.

**Servers.** The server is an agent beyond `[[nodes]]`, on a star: `network.topology` is not used. Clients answer when their own clock wakes them, or at a `barrier` as soon as they are
asked. A round ends when every client that was asked and is present has answered, or after `deadline`; with fewer answers than `quorum`, or with too little noise in the sum, it is aborted.
Clients have paid for what they sent all the same. Kinds that send once are asked again until a round succeeds, and resend the same bits, free. After the last round the server sends its model to all clients.

**Secure aggregation** is simulated: answers are multiples of a grid modulo 2⁵², hidden by a pad; the server learns the sum over survivors and nothing less. Its guarantees hold against
an adversary that cannot open that computation; `colluders` is the number of clients whose noise does not count.
"""

ERRATA = {
    "E1": "Zhang, Zhu 2016, Algorithm 2 lists ζ = α̂; its proof needs α̂/2.",
    "E2": "The change of variables costs ln(1+x), x = Cc₁/(Bκ), once; the papers print its square, or 1.4c₁C/(ηVB).",
    "E3": "Zhang, Zhu 2016, Theorem 2 leaves the factor C out of ζ; Algorithm 3 and the proof have it.",
    "E4": "Its final step puts the un-noised state into the penalty: the shift is (1 + ηV/ρ) times the one charged.",
    "E5": "Kang, Liu, Wang, Theorem 1 averages noise that was never averaged: one party's model on the wire costs n/n_j times the claim.",
    "E6": "Its objective weighs parties alike, its algorithm by size, and one-shot averages are biased.",
    "E7": "Bellet et al. 2018 give an L2 bound to Laplace noise, which needs an L1 bound: short by √d.",
    "E8": "Its Theorem 1 prints √(Σε²/δ) for √(Σε²)/δ: below what can be proved.",
    "E10": "Its Proposition 2 is time-reversed: budgets grow with time.",
    "E12": "Its Remark 4 leaves out 1/m and is valid for small ε only; hush takes the exact Gaussian μ.",
    "E13": "A dual step of each agent's own reaches agreement on the wrong point: θ is common.",
    "E14": "Zhang, Khalili, Liu 2018, Theorem 3.1 is proved for one η for all; no divergence is known otherwise.",
    "E16": "Bellet et al. 2018, eq. (4) misplaces a bracket.",
    "E17": "Releases compose: a promise for each iteration is none for the run.",
    "E18": "A start made of data is a release, and charged.",
    "E19": "The strong convexity of λ‖θ‖² is 2λ; with λ = 1/m the noise of an output-perturbed model does not fall with m.",
    "E20": "A solver stops near its minimiser, at a place that depends on the data: noise of a thousandth of the charge hides it.",
    "E21": "The low bits of a double leak: what leaves is rounded to a grid.",
    "E22": "Keeping penalties secret protects nothing: records are recovered by projection.",
    "E23": "The regulariser must be twice differentiable, and 0 ≤ L'' ≤ c₁.",
    "E24": "Zhang and Zhu regularise each agent by ρ, Zhang, Khalili and Liu by ρ/n; hush's rho is at each agent. f_j for f_p in eq. (8).",
    "E25": "Per-coordinate Laplace noise on an L2 sensitivity is short by up to √d.",
    "E26": "Without neighbours the noise of penalty perturbation vanishes: nothing is released.",
}


def page() -> str:
    """The whole page."""
    parts = [HEAD]
    parts += [section(kind.name) for kind in in_order()]
    cited = sorted(
        {e for kind in in_order() for e in re.findall(r"E\d+", str(kind.card))}, key=_number
    )
    parts.append("## What was mended\n")
    parts += [f"- **{name}** {ERRATA[name]}" for name in cited]
    return "\n".join(parts) + "\n"


def _number(name: str) -> int:
    return int(name[1:])


def section(kind: str) -> str:
    """One kind."""
    card = as_tree(KIND, KIND.card(kind))
    lines = [f"## `{kind}`\n", card["title"] + ".\n"]
    lines += [
        f"- *{key}*: {card[key]}"
        for key in ("sends", "keeps", "touches", "guarantee", "source", "mended")
    ]
    if card["parameters"]:
        lines += [
            "",
            "| parameter | may be | default | what it says |",
            "| --- | --- | --- | --- |",
        ]
    for name, parameter in card["parameters"].items():
        default = "required" if "required" in parameter else _shown(parameter.get("default"))
        lines.append(
            f"| `{name}` | {parameter['rule'].replace('|', chr(92) + '|')} | {default} | {parameter['says']} |"
        )
    return "\n".join(lines) + "\n"


def _shown(value: object) -> str:
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{k} = {v}" for k, v in value.items()) + " }"
    return "" if value is None else str(value).lower() if isinstance(value, bool) else str(value)


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
