"""The accountant `basic` in scenarios and reports."""

from mechanisms.accounting.accountants.basic import ACCOUNTANT
from scenarios.planning.accountant import AccountantKind

KIND = AccountantKind(
    accountant=ACCOUNTANT,
    words="Σε",
    tight="at δ = 0 the least that holds where only the ε of each release is known; with δ > 0 and many releases it is loose",
    source="Dwork, McSherry, Nissim, Smith 2006; theory.md, 5.2",
    is_headline=True,
    is_filter=True,
    at_end=True,
    missing="basic composition has no claim for this noise",
)
