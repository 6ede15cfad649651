"""Credit card fraud: is a payment fraudulent? (Dal Pozzolo, Caelen, Johnson, Bontempi 2015)."""

from pathlib import Path

from scenarios.language.table_rules import key
from scenarios.language.value_rules import Choice
from scenarios.planning.columns import Numeric
from scenarios.planning.data_sources import SourceKind
from scenarios.planning.delimited import Format
from scenarios.planning.files import Folders, Missing
from scenarios.planning.named_sets import Layout, NamedTable
from scenarios.planning.published import Located, PublishedFile, PublishedSet, locate

_FRAUDS = 492
_FILES = {
    "complete": PublishedFile(
        name="creditcard.csv",
        size=150_828_752,
        lines=284_808,
        records=284_807,
        sha256="76274b691b16a6c49d3f159c883398e03ccd6d1ee12d9d8ee38f4b4b98551a89",
    ),
    "balanced": PublishedFile(
        name="creditcard_balanced_984.csv",
        size=515_327,
        lines=985,
        records=984,
        sha256="0f26a7ac0bbf6da1125392ab7a17528c72730626659b3c5d1f70cdab646806da",
        sorted_sha256="ca699fce5163559d170e545c1b96d9c7b0819f1c7858c6603af60ce8f16713c0",
    ),
    "5000": PublishedFile(
        name="creditcard_492fraud_5000legit.csv",
        size=2_903_315,
        lines=5_493,
        records=5_492,
        sha256="b410313006f7353bbdfc7d00d9236568fb5d7fd83978aac9bafa4971de04b664",
        sorted_sha256="f76dcaed2aacb3cbb68ea007906604b83b628647c8c4e328c928db164475c13c",
    ),
}
"""The complete file, and two subsets of it: all frauds, with 492 or 5,000 other payments that were drawn once."""
CREDITCARD = PublishedSet(
    title="Credit card fraud",
    folder="creditcard",
    files=tuple(_FILES.values()),
    features=30,
    citation="A. Dal Pozzolo, O. Caelen, R. A. Johnson, G. Bontempi (2015), doi 10.1109/SSCI.2015.33",
    licence="ODbL 1.0, contents DbCL 1.0",
    published="by the authors of doi 10.1109/SSCI.2015.33",
    alternatives=True,
)
_MAGNITUDES: dict[str, float] = {
    "Time": 172599,
    "V1": 34.1482336513529,
    "V2": 26.5515146789918,
    "V3": 33.6809840183525,
    "V4": 12.1146718424589,
    "V5": 23.669725685634,
    "V6": 13.4617367799802,
    "V7": 43.5572415712451,
    "V8": 41.0442609210741,
    "V9": 13.4340663182301,
    "V10": 24.5882624372475,
    "V11": 12.0189131816199,
    "V12": 18.6837146333443,
    "V13": 3.5256176332168,
    "V14": 19.2143254902614,
    "V15": 4.82457742556794,
    "V16": 14.1298545174931,
    "V17": 25.1627993693248,
    "V18": 9.49874592104677,
    "V19": 5.2283417900513,
    "V20": 21.028271705455,
    "V21": 27.2028391573154,
    "V22": 8.88701714094871,
    "V23": 26.7511186627687,
    "V24": 3.14334590042122,
    "V25": 7.49574110405709,
    "V26": 2.90306336547466,
    "V27": 7.26348214633855,
    "V28": 4.85049023393321,
    "Amount": 6828,
}
"""The largest magnitude of each column in the subset with 5,000 other payments; the complete file has larger ones."""
_LAYOUT = Layout(
    Format(),
    tuple(Numeric(name, magnitude) for name, magnitude in _MAGNITUDES.items()),
    "Class",
    {"0": -1.0, "1": 1.0},
)


class CreditcardTable(NamedTable):
    """Credit card fraud: the subset with as many frauds as others, the one with 5,000 others, or the complete file.

    A subset without a file of its own is taken of the complete one.
    """

    file: str = key(
        Choice(*_FILES),
        "balanced",
        words="Which subset is read: as many frauds as others, 5,000 others, or the complete file.",
    )

    def chosen(self) -> tuple[PublishedFile, ...]:
        return (_FILES[self.file],)

    def layout(self) -> Layout:
        return _LAYOUT

    def located(self, folders: Folders) -> list[Located]:
        """Find the file, or the complete one in its place. Raises BadData."""
        try:
            return super().located(folders)
        except Missing:
            found = locate(self.published, folders, self.path, [_FILES["complete"]])
            return [one._replace(file=_FILES[self.file]) for one in found]

    def content(self, found: Located, most: float) -> tuple[bytes, str]:
        if Path(found.name).name in found.file.names:
            return super().content(found, most)
        complete, difference = super().content(found._replace(file=_FILES["complete"]), most)
        return subset(complete, found.file.records - _FRAUDS), difference


def subset(complete: bytes, others: int) -> bytes:
    """Return the lines of all frauds and of so many other payments, in the order of the complete file.

    The others are the first of `permutation(flatnonzero(y == 0))` of NumPy's own generator of the seed 0, with `y` the
    labels in that order.
    """
    import numpy as np

    from scenarios.planning.seeds import reference_generator

    header, *lines = complete.splitlines() or [b""]
    fraud = np.array([line.rstrip(b'"')[-1:] == b"1" for line in lines], dtype=bool)
    drawn = reference_generator(0).permutation(np.flatnonzero(~fraud))[:others]
    rows = np.sort(np.concatenate([np.flatnonzero(fraud), drawn])).tolist()
    return b"".join(line + b"\n" for line in (header, *(lines[row] for row in rows)))


KIND = SourceKind("creditcard", CreditcardTable, example={"points": 100}, published=CREDITCARD)
