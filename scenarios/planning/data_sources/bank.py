"""Bank: does a customer who was called subscribe a term deposit? (Moro, Cortez, Rita 2014)."""

from scenarios.planning.columns import Categorical, Numeric
from scenarios.planning.data_sources import SourceKind
from scenarios.planning.delimited import Format
from scenarios.planning.named_sets import Layout, NamedTable
from scenarios.planning.published import PublishedFile, PublishedSet

BANK = PublishedSet(
    title="Bank",
    folder="bank",
    files=(
        PublishedFile(
            name="bank-additional-full.csv",
            size=5_834_924,
            lines=41_189,
            records=41_188,
            sha256="74adfc578bf77a7ff4bb1ba4a9f8709d9e3c6907342959c2c8416847e0afb4d8",
            sorted_sha256="541a1b04d4f5c15845c0ddacc769c119d1d5c486a02385cfdcfd5fd00cd5fb4d",
        ),
    ),
    features=63,
    citation="S. Moro, P. Cortez, P. Rita (2014), doi 10.1016/j.dss.2014.03.001",
    licence="CC BY 4.0",
    published="under doi 10.24432/C5K306",
)
_LAYOUT = Layout(
    Format(";"),
    (
        Numeric("age", 98),
        Categorical(
            "job",
            (
                "admin.",
                "blue-collar",
                "entrepreneur",
                "housemaid",
                "management",
                "retired",
                "self-employed",
                "services",
                "student",
                "technician",
                "unemployed",
                "unknown",
            ),
        ),
        Categorical("marital", ("divorced", "married", "single", "unknown")),
        Categorical(
            "education",
            (
                "basic.4y",
                "basic.6y",
                "basic.9y",
                "high.school",
                "illiterate",
                "professional.course",
                "university.degree",
                "unknown",
            ),
        ),
        Categorical("default", ("no", "yes", "unknown")),
        Categorical("housing", ("no", "yes", "unknown")),
        Categorical("loan", ("no", "yes", "unknown")),
        Categorical("contact", ("cellular", "telephone")),
        # no call was made in January or February
        Categorical(
            "month", ("mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
        ),
        Categorical("day_of_week", ("mon", "tue", "wed", "thu", "fri")),
        Numeric("duration", 4918),
        Numeric("campaign", 56),
        Numeric("pdays", 999),
        Numeric("previous", 7),
        Categorical("poutcome", ("failure", "nonexistent", "success")),
        Numeric("emp.var.rate", 3.4),
        Numeric("cons.price.idx", 94.767),
        Numeric("cons.conf.idx", 50.8),
        Numeric("euribor3m", 5.045),
        Numeric("nr.employed", 5228.1),
    ),
    "y",
    {"no": -1.0, "yes": 1.0},
)


class BankTable(NamedTable):
    """Bank: what is unknown of a customer is a category of its own."""

    def layout(self) -> Layout:
        return _LAYOUT


KIND = SourceKind("bank", BankTable, example={"points": 1000}, published=BANK)
