"""The accountant `kov` in scenarios and reports."""

from mechanisms.accounting.accountants.kov import ACCOUNTANT
from scenarios.planning.accountant import AccountantKind

KIND = AccountantKind(
    accountant=ACCOUNTANT,
    words="the optimal composition of pure ε (Kairouz, Oh, Viswanath 2015), in closed form",
    is_headline=True,
)
