"""What became of the messages, and how many bytes were sent."""

from functools import partial

from scenarios.planning.metric import Metric, Snapshot, Taken

_WORDS = {
    "sent": "messages sent, one for each receiver; resent ones, too",
    "delivered": "messages that arrived",
    "superseded": "delivered messages that a newer one of the sender replaced before they were read",
    "lost": "messages lost on the way",
    "rejected": "messages refused on arrival",
    "duplicated": "second copies of messages",
}


def _count(which: str, at: Snapshot) -> int:
    return at.traffic.count(which)


KINDS = (
    *(
        Metric(
            f"messages.{which}",
            words,
            reads_models=False,
            taken=Taken.ALWAYS,
            compute=partial(_count, which),
            column=column,
        )
        for column, (which, words) in enumerate(_WORDS.items(), 100)
    ),
    Metric(
        "messages.in_flight",
        "messages sent that are neither delivered, lost nor rejected yet",
        reads_models=False,
        taken=Taken.ALWAYS,
        compute=lambda at: at.traffic.in_flight,
        column=106,
    ),
    Metric(
        "bytes.sent",
        "bytes of all messages sent",
        reads_models=False,
        taken=Taken.ALWAYS,
        compute=lambda at: at.traffic.bytes_sent,
        column=107,
    ),
)
