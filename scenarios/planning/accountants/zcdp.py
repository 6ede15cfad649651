"""The accountant `zcdp` in scenarios and reports."""

from mechanisms.accounting.accountants.zcdp import ACCOUNTANT
from scenarios.planning.accountant import AccountantKind

KIND = AccountantKind(
    accountant=ACCOUNTANT,
    tight="a curve ρα stands for each law's own: for Gaussian noise as tight as rdp, for other laws looser",
    source="Bun, Steinke 2016; Canonne, Kamath, Steinke 2020, Proposition 12; theory.md, 5.2",
    words="Σρ, zero-concentrated differential privacy",
    is_headline=True,
)
