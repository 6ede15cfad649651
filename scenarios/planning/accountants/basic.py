"""The accountant `basic` in scenarios and reports."""

from mechanisms.accounting.accountants.basic import ACCOUNTANT
from scenarios.planning.accountant import AccountantKind

KIND = AccountantKind(
    accountant=ACCOUNTANT,
    words="Σε",
    is_headline=True,
    is_filter=True,
    at_end=True,
    missing="basic composition has no claim for this noise",
)
