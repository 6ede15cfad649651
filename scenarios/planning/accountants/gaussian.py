"""The accountant `gaussian` in scenarios and reports."""

from mechanisms.accounting.accountants.gaussian import ACCOUNTANT
from scenarios.planning.accountant import AccountantKind

KIND = AccountantKind(
    accountant=ACCOUNTANT,
    words="exact for Gaussian noise, by μ; beside pure ε the sum of both",
)
