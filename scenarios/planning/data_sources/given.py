"""Points that are handed over in Python: `run(…, data=(X, y))`."""

from typing import TYPE_CHECKING

from scenarios.language.problems import Report
from scenarios.language.table_rules import read_table
from scenarios.planning.data_sources import SourceInputs, SourceKind
from scenarios.planning.files import BadData, Folders
from scenarios.planning.tabular import TabularTable

if TYPE_CHECKING:
    from scenarios.planning.pool import Pool


class GivenTable(TabularTable):
    """Points that are handed over in Python: what `run(data=…)` takes."""

    def files(self, _: Folders) -> tuple[()]:
        return ()

    def pool(self, _: SourceInputs) -> "Pool":
        raise BadData('source = "given" needs points from Python: run_sync(…, data=(X, y))')


KIND = SourceKind("given", GivenTable, example={})


def read_handed_over() -> GivenTable:
    """Return the table of data that are handed over without any key."""
    return read_table(GivenTable, {}, (), Report({}, {}), kind=KIND.name)
