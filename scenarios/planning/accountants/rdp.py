"""The accountant `rdp` in scenarios and reports."""

from mechanisms.accounting.accountants.rdp import ACCOUNTANT
from scenarios.planning.accountant import AccountantKind

KIND = AccountantKind(
    accountant=ACCOUNTANT,
    tight="looser than pld by what the conversion from Rényi orders to (ε, δ) costs, and quick",
    source="Mironov 2017; Canonne, Kamath, Steinke 2020, Proposition 12; theory.md, 5.2 to 5.4",
    words="the exact Rényi curve of each law; Proposition P for objective perturbation",
    is_headline=True,
)
