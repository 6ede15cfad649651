"""What `hush show KIND` says of each kind: what it sends, keeps, touches and costs, and what was mended."""

from mechanisms.strategy import Card

_DVP = "Zhang, Zhu 2016, Algorithm"
_PP = "Zhang, Khalili, Liu 2018"
_WDDP = "Kang, Liu, Wang, Algorithm 1"
_BELLET = "Bellet, Guerraoui, Taziki, Tommasi 2018"
_ROW = "its model, its time and its integral (2d + 1 numbers) after each wake, to all neighbours"
_EDGES = "; duals are integrals of broadcasts, and heal by themselves"

CARDS: dict[str, Card] = {
    card.kind: card
    for card in (
        Card(
            kind="local",
            title="Purely local learning: every agent minimises its own objective and says nothing",
            sends="nothing",
            keeps="its model",
            touches="every record, in one exact solve at the first wake",
            guarantee="ε = 0 for whoever watches the network; ε = ∞ for whoever sees a final model",
            source=f"the baseline of {_BELLET}, section 5",
            mended="the paper calls it perfectly private: true only if nothing is ever shown",
        ),
        Card(
            kind="admm",
            title="Consensus ADMM: one model for all, by exact local solves and duals on edges",
            sends=_ROW,
            keeps="its model, the last message of each neighbour",
            touches="every record, in one exact solve at each wake",
            guarantee="none: every release costs ε = ∞",
            source=f"{_DVP} 1, eq. (5)–(8); {_PP}, eq. (8)–(9)",
            mended="E24 (f_j for f_p in eq. 8)" + _EDGES,
        ),
        Card(
            kind="dvp",
            title="ADMM with dual variable perturbation: linear noise in each local solve",
            sends=_ROW,
            keeps="what it released last, the last message of each neighbour",
            touches="every record, in one exact solve for each release",
            guarantee="each release costs ζ·2C/B + ln(1 + C c₁/(Bκ)) + α/1000, κ = ρ + Φ + 2ηV: exactly alpha; the run "
            "costs their composition, in the eavesdropper's view",
            source=f"{_DVP} 2, Theorem 1",
            mended="E1 (ζ is half the printed one), E2 (ln(1+x) once; Φ from α/2), E17 (releases compose), E23; "
            "E20 (a thousandth of alpha pays for noise that hides where the solver stops); as_printed keeps ζ = α̂, costs "
            "up to 2α̂ + ln(1+x), and does not cover the solver's residual",
        ),
        Card(
            kind="pvp",
            title="ADMM with primal variable perturbation: noise on each local minimiser",
            sends=_ROW,
            keeps='what it released last; variant = "printed" keeps the un-noised minimiser, a secret',
            touches="every record, in one exact solve for each release",
            guarantee='each release costs ζ·2C/(B(ρ + 2ηV)); variant = "printed" ζ·2C/(Bρ), for the whole '
            "trajectory",
            source=f"{_DVP} 3, Theorem 2",
            mended="E3 (ζ has C in it), E4 (the final step uses released values), E17; as_printed takes "
            "ζ = ρBα/(2C), and its final step costs 2C/B·(1 + ηV/ρ)·ζ + ln(1+x)",
        ),
        Card(
            kind="madmm",
            title="Modified ADMM: every agent has a penalty of its own that may grow",
            sends=_ROW,
            keeps="its model, its penalty, the last message of each neighbour",
            touches="every record, in one exact solve at each wake",
            guarantee="none: every release costs ε = ∞",
            source=f"{_PP}, eq. (10)–(11), (13)–(16)",
            mended="E13 (θ is common), E14 (convergence is proved for common η only), E24" + _EDGES,
        ),
        Card(
            kind="pp",
            title="ADMM with penalty perturbation: noise inside a growing penalty",
            sends=_ROW,
            keeps="what it released last, its penalty, the last message of each neighbour",
            touches="every record, in one exact solve for each release",
            guarantee="each release costs α_iC/(η_iV_iB_i) + ln(1 + C c₁/(B_i(ρ + 2η_iV_i))), and a thousandth more for "
            "the solver",
            source=f"{_PP}, Algorithm 1, Theorem 4.1",
            mended="E2 (ln(1+x) for 1.4c₁; no side condition), E22 (secret penalties protect nothing), E26 (no "
            "release at degree 0), E20 (as dvp); as_printed inverts the printed bound (26), and does not cover the "
            "solver's residual",
        ),
        Card(
            kind="cd",
            title="Coordinate descent on personalised models, one gradient per wake",
            sends="its model after each wake, to all neighbours",
            keeps="its model, the last model heard from each neighbour, the releases left",
            touches="every record once per release, through one gradient; smoothing touches none",
            guarantee="each release costs ζ·2L₂w (norm-gamma), 2L₁w/s (Laplace) or μ = 2L₂w/s (Gaussian), "
            "w = 1/m: then alpha is a μ; the run costs their composition, in the eavesdropper's view",
            source=f"{_BELLET}, eq. (2), (4), (6), Theorem 1, Proposition 2",
            mended="E7 (Laplace takes an L1 bound), E8 (composition), E10 (budgets grow with time), E12, E16 "
            "(bracket of eq. 4), E21 (rounded releases); smoothing after the budget is hush's own "
            "(A10-smooth); as_printed takes the L2 bound for Laplace, Remark 4 for Gaussian, and E8 as it stands",
        ),
        Card(
            kind="propagation",
            title="Model propagation: one local model each, then free smoothing over the graph",
            sends="its propagated model after each wake; only the first reads data",
            keeps="its own (perturbed) local model, the last model heard from each neighbour",
            touches="every record once, in the local solve of the first release",
            guarantee="one release: ε = ζ·2L₂w/Λ with output noise (Λ = 2·l2), ζ·2L₂w + ln(1 + w c₁/κ) with "
            "objective noise, a thousandth of it for the solver; later wakes are free",
            source=f"{_BELLET}, App. C; Chaudhuri, Monteleoni, Sarwate 2011, Algorithms 1 and 2",
            mended="E2 (ln(1+x) once), E18 (the warm start is charged), E19 (the true Λ), E20, E21; as_printed takes "
            "Chaudhuri's looser objective noise, and does not cover the solver's residual",
        ),
        Card(
            kind="warm-cd",
            title="A private warm start by propagation, then coordinate descent, under one budget",
            sends="as propagation for warm_wakes wakes, then as cd",
            keeps="its (perturbed) local model, its model, the last model heard from each neighbour",
            touches="every record once for the warm start, and once per release of the descent",
            guarantee="warm_share of ε for the start; start and descent together stay within the budget",
            source=f"{_BELLET}, Remark 3, App. C and Figure 2(b)",
            mended="E18 (the start is charged), and what was mended of propagation and cd",
        ),
        Card(
            kind="collaborative-admm",
            title="Collaborative learning by ADMM, two agents at a time",
            sends="its model, its copy of the partner's and two duals (4d numbers), to one partner and back",
            keeps="its model, and per edge a copy, two consensus values, two duals",
            touches="every record, in local_steps gradients for each trade",
            guarantee="none: every release costs ε = ∞",
            source="Vanhaesebrouck, Bellet, Tommasi 2017, section 4",
            mended="a trade whose answer is lost is healed by the next one between the two",
        ),
        Card(
            kind="wddp",
            title="Weighted distributed gradient descent: parties learn, a server averages",
            sends="once: the model after local_rounds noisy steps; every-round: one noisy gradient",
            keeps="the server's last model",
            touches="every record in each local step",
            guarantee="local noise: μ = 2G√T/(n_jσ_j) in every view, and of T hidden steps that contract by a < 1 (once, "
            "l2 > 0) √((1−aᵀ)/(1+aᵀ)·(1+a)/(1−a)) for √T; aggregate: μ = 2G√T·w_j/(n_jσ), σ the noise "
            "of the sum without dropouts and colluders, behind secure aggregation",
            source=f"{_WDDP}, eq. (3), (4), (11)",
            mended="E5 (the printed σ is short by n/n_j on the wire), E6; as_printed takes σ of eq. (3), its "
            "constant exact for (ε, δ), with m·n₁ for n where weights are uniform",
        ),
        Card(
            kind="jayaraman-gradient",
            title="Gradient descent with one noise inside secure computation",
            sends="a masked gradient each round",
            keeps="the server's last model",
            touches="every record in one gradient each round",
            guarantee="each round costs μ = 2G/(m n₁σ), m and n₁ of the survivors, in every view that cannot open "
            "the computation",
            source="Jayaraman, Wang, Evans, Gu 2018, gradient perturbation",
            mended="nothing: the printed σ is exact zCDP with the right sensitivity (E25); survivors set the scale",
        ),
        Card(
            kind="jayaraman-output",
            title="An average of local minimisers with one noise inside secure computation",
            sends="its masked minimiser, once",
            keeps="the server's model",
            touches="every record in one exact solve",
            guarantee="one release: ε = ζ·2G/(m n₁Λ), Λ = 2·l2, behind secure computation",
            source="Jayaraman, Wang, Evans, Gu 2018, output perturbation",
            mended="E25 (Laplace per coordinate on an L2 sensitivity: norm-gamma instead); as_printed keeps it",
        ),
        Card(
            kind="pathak",
            title="An average of local minimisers with Laplace noise for the smallest party",
            sends="its masked minimiser, once",
            keeps="the server's model",
            touches="every record in one exact solve",
            guarantee="one release: ε = 2√d·G/(m n₁Λ s), Λ = 2·l2, behind secure aggregation",
            source="Pathak, Rane, Raj 2010",
            mended="E25 (an L1 bound for Laplace); as_printed takes s = 2/(n₁Λε): safe where √d ≤ m",
        ),
        Card(
            kind="central-gradient",
            title="Noisy gradient descent of one curator on the pooled data",
            sends="one noisy gradient each round",
            keeps="the server's last model",
            touches="every record in one gradient each round",
            guarantee="each round costs μ = 2G/(nσ); the run their composition",
            source="Wang, Ye, Xu 2017, gradient perturbation",
            mended="the constant of σ is exact for (ε, δ) (E5 v); as_printed is the same",
        ),
        Card(
            kind="fedavg",
            title="Federated averaging: clients run epochs of SGD, the server averages by size",
            sends="the model after its epochs",
            keeps="the server's last model",
            touches="every record, epochs times a round",
            guarantee="none: every release costs ε = ∞",
            source="McMahan, Moore, Ramage, Hampson, Agüera y Arcas 2017",
            mended="nothing; wddp with every-round is its private form",
        ),
        Card(
            kind="local-dp",
            title="Local differential privacy: perturb each record once, learn from that for ever",
            sends="what the inner kind sends; all of it derived",
            keeps="the perturbed records, and what the inner kind keeps",
            touches="every record once",
            guarantee="ε_x + ε_y for each record: x + norm-gamma(ε_x/2), labels flipped with 1/(1 + e^ε_y)",
            source=f"the baseline of {_BELLET}, App. D; Duchi, Jordan, Wainwright 2012",
            mended="noise of an L2 ball of diameter 2; as_printed is the same",
        ),
    )
}
