"""The accountant `zcdp` in scenarios and reports."""

from mechanisms.accounting.accountants.zcdp import ACCOUNTANT
from scenarios.planning.accountant import AccountantKind

KIND = AccountantKind(
    accountant=ACCOUNTANT,
    words="Σρ, zero-concentrated differential privacy",
    is_headline=True,
)
