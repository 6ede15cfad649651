"""The accountant `kov` in scenarios and reports."""

from mechanisms.accounting.accountants.kov import ACCOUNTANT
from scenarios.planning.accountant import AccountantKind

KIND = AccountantKind(
    accountant=ACCOUNTANT,
    tight="close to the optimum over all laws with these ε; a law that leaks less (norm-gamma, Laplace) has a smaller ε by rdp or pld",
    source="Kairouz, Oh, Viswanath 2015, Theorem 3.5; theory.md, 5.2",
    words="the optimal composition of pure ε (Kairouz, Oh, Viswanath 2015), in closed form",
    is_headline=True,
)
