"""The accountant `pld` in scenarios and reports."""

from mechanisms.accounting.accountants.pld import ACCOUNTANT
from scenarios.planning.accountant import AccountantKind

KIND = AccountantKind(
    accountant=ACCOUNTANT,
    words="numerical, from δ(ε) of each law",
    tight="the tightest: exact up to its grid, which it rounds up; of objective perturbation it knows the pure ε only",
    source="Doroshenko et al. 2022; theory.md, 5.2 and 5.3",
    is_headline=True,
)
