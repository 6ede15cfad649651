"""What became of the messages, and how many bytes were sent."""

from functools import partial

from scenarios.planning.metric import ALWAYS, Metric, Snapshot

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


_of = partial(Metric, reads_models=False, unit="messages")
KINDS = (
    *(
        _of(f"messages.{which}", words, partial(_count, which), ALWAYS)
        for which, words in _WORDS.items()
    ),
    _of(
        "messages.in_flight",
        "messages sent that are neither delivered, lost nor rejected yet",
        lambda at: at.traffic.in_flight,
        ALWAYS,
    ),
    _of(
        "bytes.sent",
        "bytes of all messages sent",
        lambda at: at.traffic.bytes_sent,
        ALWAYS,
        unit="bytes",
    ),
)
