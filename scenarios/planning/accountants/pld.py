"""The accountant `pld` in scenarios and reports."""

from mechanisms.accounting.accountants.pld import ACCOUNTANT
from scenarios.planning.accountant import AccountantKind

KIND = AccountantKind(
    accountant=ACCOUNTANT, words="numerical, from δ(ε) of each law", is_headline=True
)
