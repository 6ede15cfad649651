"""The ledger of a run as a file for other programs, written when the run is over."""

from scenarios.records import record_writer
from scenarios.records.record_writer import RecordWriter
from scenarios.records.run_folder import LEDGER, RunFolder


def export_ledger(folder: RunFolder, record: RecordWriter) -> str:
    """Write the ledger file of a run that is over; return why it was not written, for a person: empty where it was."""
    if record.releases > record_writer.MOST_RELEASES:
        omitted = f"{LEDGER} is left out: {record.releases:,} releases"
        return f"{omitted}; hush show RUN --ledger jsonl writes it"
    folder.write_parts(LEDGER, record.ledger_text())
    return ""
