"""The accountant `rdp` in scenarios and reports."""

from mechanisms.accounting.accountants.rdp import ACCOUNTANT
from scenarios.planning.accountant import AccountantKind

KIND = AccountantKind(
    accountant=ACCOUNTANT,
    words="the exact Rényi curve of each law; Proposition P for objective perturbation",
    is_headline=True,
)
