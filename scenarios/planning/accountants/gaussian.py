"""The accountant `gaussian` in scenarios and reports."""

from mechanisms.accounting.accountants.gaussian import ACCOUNTANT
from scenarios.planning.accountant import AccountantKind

KIND = AccountantKind(
    accountant=ACCOUNTANT,
    words="exact for Gaussian noise, by μ; beside pure ε the sum of both",
    tight="exact where every release is Gaussian: no smaller ε holds; beside releases of a pure ε the sum of both parts, which is loose",
    source="Dong, Roth, Su 2022 (Gaussian DP); Balle, Wang 2018; theory.md, 5.2",
    is_headline=True,
)
