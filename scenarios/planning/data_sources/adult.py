"""Adult: does a person earn more than 50,000 dollars a year? (Becker, Kohavi 1996).

Prepared as in Zhang, Khalili, Liu 2018, section 5; the frequencies of countries as in Zhang, Zhu 2016, section 5.2.
"""

from scenarios.language.table_rules import key
from scenarios.language.value_rules import Choice
from scenarios.planning.columns import Categorical, Column, Frequency, Numeric
from scenarios.planning.data_sources import SourceKind
from scenarios.planning.delimited import Format
from scenarios.planning.named_sets import Layout, NamedTable
from scenarios.planning.published import PublishedFile, PublishedSet

ADULT = PublishedSet(
    title="Adult",
    folder="adult",
    files=(
        PublishedFile(
            name="adult.data",
            size=3_974_305,
            lines=32_562,
            records=30_162,
            sha256="5b00264637dbfec36bdeaab5676b0b309ff9eb788d63554ca0a249491c86603d",
            sorted_sha256="a156e6a10975d9034fd6ab63c3c2c8962ed7cc8def05acbe0cfcb715e7440c57",
        ),
        PublishedFile(
            name="adult.test",
            size=2_003_153,
            lines=16_283,
            records=15_060,
            sha256="a2a9044bc167a35b2361efbabec64e89d69ce82d9790d2980119aac5fd7e9c05",
            sorted_sha256="096e0a110b1ec7d4aece56f30ce6b6c97e0b671b7ec035f75dc3fc5fa31d3dc8",
        ),
    ),
    features=104,
    citation="B. Becker, R. Kohavi (1996), doi 10.24432/C5XW20",
    licence="CC BY 4.0",
    published="under doi 10.24432/C5XW20",
)

_COUNTRIES = {
    "United-States": 41292,
    "Cambodia": 26,
    "England": 119,
    "Puerto-Rico": 175,
    "Canada": 163,
    "Germany": 193,
    "Outlying-US(Guam-USVI-etc)": 22,
    "India": 147,
    "Japan": 89,
    "Greece": 49,
    "South": 101,
    "China": 113,
    "Cuba": 133,
    "Iran": 56,
    "Honduras": 19,
    "Philippines": 283,
    "Italy": 100,
    "Poland": 81,
    "Jamaica": 103,
    "Vietnam": 83,
    "Mexico": 903,
    "Portugal": 62,
    "Ireland": 36,
    "France": 36,
    "Dominican-Republic": 97,
    "Laos": 21,
    "Ecuador": 43,
    "Taiwan": 55,
    "Haiti": 69,
    "Columbia": 82,
    "Hungary": 18,
    "Guatemala": 86,
    "Nicaragua": 48,
    "Scotland": 20,
    "Thailand": 29,
    "Yugoslavia": 23,
    "El-Salvador": 147,
    "Trinadad&Tobago": 26,
    "Peru": 45,
    "Hong": 28,
    "Holand-Netherlands": 1,
}
"""How many of the 45,222 complete rows have a country: constants of the published files."""
_BEFORE: tuple[Column, ...] = (
    Numeric("age", 90),
    # "Never-worked" has no occupation: no complete row has it
    Categorical(
        "workclass",
        (
            "Private",
            "Self-emp-not-inc",
            "Self-emp-inc",
            "Federal-gov",
            "Local-gov",
            "State-gov",
            "Without-pay",
        ),
    ),
    Numeric("fnlwgt", 1_490_400),
    Categorical(
        "education",
        (
            "Bachelors",
            "Some-college",
            "11th",
            "HS-grad",
            "Prof-school",
            "Assoc-acdm",
            "Assoc-voc",
            "9th",
            "7th-8th",
            "12th",
            "Masters",
            "1st-4th",
            "10th",
            "Doctorate",
            "5th-6th",
            "Preschool",
        ),
    ),
    Numeric("education-num", 16),
    Categorical(
        "marital-status",
        (
            "Married-civ-spouse",
            "Divorced",
            "Never-married",
            "Separated",
            "Widowed",
            "Married-spouse-absent",
            "Married-AF-spouse",
        ),
    ),
    Categorical(
        "occupation",
        (
            "Tech-support",
            "Craft-repair",
            "Other-service",
            "Sales",
            "Exec-managerial",
            "Prof-specialty",
            "Handlers-cleaners",
            "Machine-op-inspct",
            "Adm-clerical",
            "Farming-fishing",
            "Transport-moving",
            "Priv-house-serv",
            "Protective-serv",
            "Armed-Forces",
        ),
    ),
    Categorical(
        "relationship",
        ("Wife", "Own-child", "Husband", "Not-in-family", "Other-relative", "Unmarried"),
    ),
    Categorical("race", ("White", "Asian-Pac-Islander", "Amer-Indian-Eskimo", "Other", "Black")),
    Categorical("sex", ("Female", "Male")),
    Numeric("capital-gain", 99_999),
    Numeric("capital-loss", 4356),
    Numeric("hours-per-week", 99),
)
_COUNTRY: dict[str, Column] = {
    "one-hot": Categorical("native-country", tuple(_COUNTRIES)),
    "frequency": Frequency("native-country", tuple(_COUNTRIES), tuple(_COUNTRIES.values())),
}
_NAMES = (*(column.name for column in _BEFORE), "native-country", "income")
_FILES = {"both": ADULT.files, "train": ADULT.files[:1]}


class AdultTable(NamedTable):
    """Adult: both files pooled, or the training file alone; countries one by one, or as their frequency."""

    files_read: str = key(
        Choice(*_FILES), "both", name="files", words="Which of the two published files are read."
    )
    native_country: str = key(
        Choice(*_COUNTRY),
        "one-hot",
        words="Whether a country is 41 features, or one: how often it occurs.",
    )

    def chosen(self) -> tuple[PublishedFile, ...]:
        return _FILES[self.files_read]

    def layout(self) -> Layout:
        return Layout(
            Format(names=_NAMES, comment="|", blanks=True),
            (*_BEFORE, _COUNTRY[self.native_country]),
            "income",
            {"<=50K": -1.0, ">50K": 1.0, "<=50K.": -1.0, ">50K.": 1.0},
            missing="?",
        )


KIND = SourceKind("adult", AdultTable, example={"points": 1000}, published=ADULT)
