"""Breast Cancer Wisconsin (Original): is a tumour malignant? (Wolberg 1992)."""

from scenarios.language.table_rules import key
from scenarios.language.value_rules import Choice
from scenarios.planning.columns import Numeric
from scenarios.planning.data_sources import SourceKind
from scenarios.planning.delimited import Format
from scenarios.planning.named_sets import Layout, NamedTable
from scenarios.planning.published import PublishedFile, PublishedSet

BREAST_CANCER = PublishedSet(
    title="Breast Cancer Wisconsin (Original)",
    folder="breast-cancer",
    files=(
        PublishedFile(
            name="breast-cancer-wisconsin.data",
            size=19_889,
            lines=699,
            records=699,
            sha256="402c585309c399237740f635ef9919dc512cca12cbeb20de5e563a4593f22b64",
            sorted_sha256="90ca06692889f65f78ef0d390e3ccdb8e06fe4dcafac62a7d584b73197a575c4",
        ),
    ),
    features=9,
    citation="W. H. Wolberg (1992), doi 10.24432/C5HP4Z",
    licence="CC BY 4.0",
    published="under doi 10.24432/C5HP4Z",
)
_FEATURES = (
    "clump-thickness",
    "uniformity-of-cell-size",
    "uniformity-of-cell-shape",
    "marginal-adhesion",
    "single-epithelial-cell-size",
    "bare-nuclei",
    "bland-chromatin",
    "normal-nucleoli",
    "mitoses",
)
_FORMAT = Format(names=("sample-code-number", *_FEATURES, "class"))
_LABELS = {"2": -1.0, "4": 1.0}
_LAYOUTS = {
    # values are 1 to 10: 0 is none of them
    "zero": Layout(
        _FORMAT, tuple(Numeric(name, 10, unknown="?") for name in _FEATURES), "class", _LABELS
    ),
    "drop": Layout(
        _FORMAT, tuple(Numeric(name, 10) for name in _FEATURES), "class", _LABELS, missing="?"
    ),
}


class BreastCancerTable(NamedTable):
    """Breast Cancer Wisconsin (Original): an unknown value becomes 0, or its row is left out."""

    missing: str = key(
        Choice(*_LAYOUTS),
        "zero",
        words="What becomes of an unknown value: it is 0, or its row is left out.",
    )

    def layout(self) -> Layout:
        return _LAYOUTS[self.missing]


KIND = SourceKind(
    "breast-cancer", BreastCancerTable, example={"points": 100}, published=BREAST_CANCER
)
