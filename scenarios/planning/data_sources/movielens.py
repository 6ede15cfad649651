"""MovieLens 100K: which rating will a user give to a film? (Harper, Konstan 2015).

Prepared as in Bellet, Guerraoui, Taziki, Tommasi 2018, sections 5.2 and D.2.
"""

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, NamedTuple

from scenarios.language.problems import Report
from scenarios.language.table_rules import Kinds, KindTable, key, values_of
from scenarios.language.value_rules import Choice, Number, count
from scenarios.planning.data_sources import Amount, SourceInputs, SourceKind
from scenarios.planning.delimited import DelimitedText, Format
from scenarios.planning.files import MOST_BYTES, BadData
from scenarios.planning.kept import Kept
from scenarios.planning.kinds import Tables
from scenarios.planning.named_sets import PublishedTable
from scenarios.planning.published import PublishedFile, PublishedSet, read_published
from scenarios.planning.splits import SPLITS, SplitTable

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from mechanisms.vectors import Matrix
    from scenarios.planning.datasets import Shards
    from scenarios.planning.packed_points import Points
    from scenarios.planning.ratings import Ratings

MOVIELENS = PublishedSet(
    title="MovieLens 100K",
    folder="ml-100k",
    files=(
        PublishedFile(
            name="u.data",
            size=1_979_173,
            lines=100_000,
            records=100_000,
            sha256="06416e597f82b7342361e41163890c81036900f418ad91315590814211dca490",
            sorted_sha256="f7dde5dc55b648d848645090e8e50b34bbf9b56abd8c305bcae44ee5de7a1f06",
        ),
        PublishedFile(
            name="u.item",
            size=236_344,
            lines=1682,
            records=0,
            sha256="553841ebc7de3a0fd0d6b62a204ea30c1e651aacfb2814c7a6584ac52f2c5701",
            sorted_sha256="9e26c38b9e3d160e39ec47e18c6eeb4f409039c312f9f6d1fdca2e74cdde80ca",
        ),
    ),
    features=20,
    citation="F. M. Harper, J. A. Konstan (2015), doi 10.1145/2827872",
    licence="research use; no redistribution and no commercial use without permission",
    published="by the authors of doi 10.1145/2827872",
)
_DATA, _ITEM = MOVIELENS.files
_RATINGS = Format(separator="\t", names=("user", "item", "rating", "time"), quotes=False)
_GENRES = (
    "unknown",
    "Action",
    "Adventure",
    "Animation",
    "Children's",
    "Comedy",
    "Crime",
    "Documentary",
    "Drama",
    "Fantasy",
    "Film-Noir",
    "Horror",
    "Musical",
    "Mystery",
    "Romance",
    "Sci-Fi",
    "Thriller",
    "War",
    "Western",
)
_ITEMS = Format(
    separator="|",
    names=("item", "title", "release", "video release", "address", *_GENRES),
    encoding="latin-1",
    quotes=False,
)


@dataclass(frozen=True, slots=True)
class FeatureInputs:
    """What features of items may be made of."""

    training: "Ratings"
    """The centred training ratings of the agents."""
    others: "Ratings"
    """The centred ratings of the users who are no agents."""
    rng: "np.random.Generator"
    genres: "Callable[[], Matrix]"
    """Returns 1 for each genre of an item, else 0: a row for each item. Raises BadData."""


class FeaturesTable(KindTable):
    """How each film becomes a vector."""

    files: ClassVar[tuple[PublishedFile, ...]] = (_DATA,)
    """What is read for them, the ratings included."""
    uncovered: ClassVar[str]
    """Why ε does not cover them; empty where it does."""

    @property
    def width(self) -> int:
        """How many features there are."""
        raise NotImplementedError(f"no number of features is known for {self.kind!r}")

    def of_items(self, inputs: FeatureInputs) -> "Matrix":
        """Return the features, a row for each item. Raises BadData."""
        raise NotImplementedError(f"no features are made by {self.kind!r}")


class AlsTable(FeaturesTable):
    """Alternating least squares on the agents' training ratings, as the paper has it: norms are what they are."""

    dimension: int = key(
        Number(low=1, high=1000, whole=True), 20, words="How many numbers describe a film."
    )
    regularisation: float = key(
        Number(above=0, least=1e-6, most=1e6),
        0.003,
        words="The weight λ of the regulariser of alternating least squares.",
    )
    iterations: int = key(count(), 20, words="How many times users and films are fitted by turns.")
    uncovered = (
        "the features of items were fitted to the agents' training ratings, and are no release"
    )

    @property
    def width(self) -> int:
        return self.dimension

    def of_items(self, inputs: FeatureInputs) -> "Matrix":
        return self.fitted(inputs.training, inputs.rng)

    def fitted(self, ratings: "Ratings", rng: "np.random.Generator") -> "Matrix":
        """Return features that are fitted to ratings."""
        from scenarios.planning.ratings import Factorisation

        how = Factorisation(self.dimension, self.regularisation, self.iterations)
        return how.fit(ratings, rng).items


class UnitAlsTable(AlsTable):
    """The same, each item scaled to norm 1."""

    def of_items(self, inputs: FeatureInputs) -> "Matrix":
        return _to_norm_1(super().of_items(inputs))


class OthersTable(AlsTable):
    """Alternating least squares on all ratings of the users who are no agents."""

    uncovered = ""

    def of_items(self, inputs: FeatureInputs) -> "Matrix":
        if not len(inputs.others):
            users = len(inputs.others.user_ids)
            raise BadData(
                f'features = "others" are of users who are no agents: all {users:,} users are, so take fewer agents'
            )
        return self.fitted(inputs.others, inputs.rng)


class GenresTable(FeaturesTable):
    """The genres of u.item, scaled to norm 1: they are public, and no rating is read."""

    files: ClassVar[tuple[PublishedFile, ...]] = (_DATA, _ITEM)
    uncovered = ""

    @property
    def width(self) -> int:
        return len(_GENRES)

    def of_items(self, inputs: FeatureInputs) -> "Matrix":
        return _to_norm_1(inputs.genres())


FEATURES: Mapping[str, type[FeaturesTable]] = {
    "als": AlsTable,
    "als-unit": UnitAlsTable,
    "others": OthersTable,
    "genres": GenresTable,
}


def _to_norm_1(rows: "Matrix") -> "Matrix":
    """Scale each row to norm 1; a row of zeros stays."""
    import numpy as np

    norms = np.linalg.norm(rows, axis=1, keepdims=True)
    scaled: Matrix = rows / np.where(norms > 0, norms, 1.0)
    return scaled


_read = Kept["Ratings"](2)
_fitted = Kept["Matrix"](64)


class MovielensTable(PublishedTable):
    """MovieLens 100K: each agent is one user, and learns which rating it gives to a film.

    `test` is the share of each user's ratings that test its model. `centre` is what is subtracted from ratings: the mean of
    the user's training ratings or of all its ratings, or the midpoint of the scale. Topologies that go by target models
    take the cosine of two users' training ratings, `raw` or `centred`.
    """

    split: SplitTable | None = key(
        Kinds("split", Tables(SPLITS)),
        "by-user",
        words="How ratings are dealt: each agent is a user.",
    )
    test: float = key(
        Number(low=0, below=1), 0.2, words="The share of each user's ratings that test its model."
    )
    features: FeaturesTable = key(
        Kinds("feature set", FEATURES), "als", words="What describes a film."
    )
    centre: str = key(
        Choice("training", "all", "midpoint"),
        "training",
        words="What is subtracted from a user's ratings: the mean of its training ratings, of all its ratings, or 3.",
    )
    cosine: str = key(
        Choice("raw", "centred"),
        "raw",
        words="Which training ratings the topologies `knn` and `similarity` compare.",
    )

    def check(self, report: Report) -> None:
        """Report a split that does not give each agent one user."""
        if self.split is not None and self.split.kind != "by-user":
            report.value(
                self.path_to("split"),
                f"each agent of movielens is one user: only by-user fits, got {self.split.kind}",
            )

    def chosen(self) -> tuple[PublishedFile, ...]:
        return self.features.files

    def amount(self, _: int) -> Amount:
        tests = round(self.test * _DATA.records)
        return Amount(_DATA.records - tests, tests, self.features.width)

    def build(self, inputs: SourceInputs) -> "Shards":
        """Return the ratings of each agent: films as features, centred ratings as labels."""
        import numpy as np

        from scenarios.planning.datasets import Shards
        from scenarios.planning.ratings import drawn_for_tests
        from scenarios.planning.seeds import generator
        from scenarios.planning.splits.by_user import chosen

        texts, notes = self._texts(inputs)
        ratings = _read.get(texts[0].digest, lambda: _ratings(texts[0], inputs.folders.most))
        self._refuse_large(ratings, inputs)
        everyone = np.arange(len(ratings.user_ids))
        users = chosen(everyone, inputs.agents, generator(inputs.seed, "data/split"))
        tested = drawn_for_tests(ratings, users, self.test, inputs.seed)
        centred = self._centred(ratings, tested)

        def fit() -> "Matrix":
            own = np.isin(ratings.users, users)
            luck = generator(inputs.seed, "data/features")
            given = FeatureInputs(
                centred.take(own & ~tested),
                centred.take(~own),
                luck,
                lambda: _genres(texts[1], ratings, inputs.folders.most),
            )
            return self.features.of_items(given)

        made_of = (*(text.digest for text in texts), str(values_of(self.features)))
        how = (self.test, self.centre, inputs.seed, inputs.agents)
        items = _fitted.get((*made_of, *how), fit)
        train, test = list["Points"](), list["Points"]()
        for mine in (ratings.by_user[user] for user in users.tolist()):
            for kept, part in ((train, mine[~tested[mine]]), (test, mine[tested[mine]])):
                kept.append((items[ratings.items[part]], centred.values[part]))
        compared = ratings if self.cosine == "raw" else centred
        return Shards(
            tuple(train),
            tuple(test) if self.test else (),
            None,
            compared.take(~tested).matrix(users),
            notes,
            uncovered=self._uncovered(),
        )

    def _texts(self, inputs: SourceInputs) -> tuple[list["_File"], tuple[str, ...]]:
        """Return the files, and how they differ from what was published. Raises BadData."""
        files, notes = list[_File](), list[str]()
        for found in self.located(inputs.folders):
            content, difference = read_published(found, self.checksum, inputs.folders.most)
            files.append(_File(found.path.name, content, hashlib.sha256(content).hexdigest()))
            if difference:
                notes.append(f"{found.name} is not the file as published: {difference}")
        return files, tuple(notes)

    def _refuse_large(self, ratings: "Ratings", inputs: SourceInputs) -> None:
        """Refuse what would take more memory than arrays of files may: a file that is not the published one may."""
        users, items, d = len(ratings.user_ids), len(ratings.item_ids), self.features.width
        needed = 8 * ((users + items) * d * d + 3 * len(ratings) * d + inputs.agents * items)
        if needed > inputs.folders.most:
            limit = f"above {MOST_BYTES / 1e9:.3g} GB for all files together"
            raise BadData(
                f"{users:,} users and {items:,} items would take {needed / 1e9:.3g} GB; {limit} needs --allow-large"
            )

    def _centred(self, ratings: "Ratings", tested: "NDArray[np.bool_]") -> "Ratings":
        """Return every rating minus the centre of its user."""
        import numpy as np

        from scenarios.planning.ratings import MIDPOINT

        match self.centre:
            case "training":
                return ratings.minus(ratings.take(~tested).means())
            case "all":
                return ratings.minus(ratings.means())
            case "midpoint":
                return ratings.minus(np.full(len(ratings.user_ids), MIDPOINT))
            case centre:
                raise NotImplementedError(f"nothing is subtracted by {centre!r}")

    def _uncovered(self) -> tuple[str, ...]:
        """Return why ε does not cover the points: what was computed from ratings, and is no release."""
        reasons = [self.features.uncovered]
        if self.centre != "midpoint":
            reasons.append(
                "each agent's mean rating was subtracted from its ratings, and is no release: one rating moves all labels of "
                "its agent, and ε is of one label"
            )
        return tuple(filter(None, reasons))


class _File(NamedTuple):
    """The content of a file, and its sha256."""

    name: str
    content: bytes
    digest: str


def _ratings(file: _File, most: float) -> "Ratings":
    from scenarios.planning.ratings import read_ratings

    text = DelimitedText(file.name, file.content, _RATINGS, most=most)
    return read_ratings(text.read())


def _genres(file: _File, ratings: "Ratings", most: float) -> "Matrix":
    """Return 1 for each genre of an item, else 0: a row for each item that is rated. Raises BadData."""
    import numpy as np

    from scenarios.planning.columns import finite

    table = DelimitedText(file.name, file.content, _ITEMS, most=most).read()
    ids = finite(table, "item")
    flags = np.stack([finite(table, genre) for genre in _GENRES], axis=1)
    wrong = np.argwhere((flags != 0) & (flags != 1))
    if len(wrong):
        row, genre = wrong[0].tolist()
        raise BadData(f"{table.place(row)}: {_GENRES[genre]} must be 0 or 1")
    known, places, counts = np.unique(ids, return_index=True, return_counts=True)
    if (counts > 1).any():
        again = np.flatnonzero(ids == known[counts > 1][0])[1]
        raise BadData(f"{table.place(int(again))}: item {ids[again]:.15g} is there a second time")
    missing = ratings.item_ids[~np.isin(ratings.item_ids, known)]
    if len(missing):
        raise BadData(f"{file.name} has no item {missing[0]}, which was rated")
    rows: Matrix = flags[places[np.searchsorted(known, ratings.item_ids)]]
    return rows


KIND = SourceKind("movielens", MovielensTable, example={}, published=MOVIELENS)
