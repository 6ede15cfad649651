"""Hypothesis on a noisy machine: no deadlines; in CI the same examples each time. Signals as a terminal sends them."""

import os
import signal

from hypothesis import settings

from tests.support.planted import plant_mechanism  # noqa: F401 # a fixture of several tests

settings.register_profile("hush", deadline=None, derandomize=bool(os.environ.get("CI")))
settings.load_profile("hush")

# A suite that is started in the background inherits ignored signals, and so would every process that it starts.
for name, handler in (
    ("SIGINT", signal.default_int_handler),
    ("SIGHUP", signal.SIG_DFL),
    ("SIGQUIT", signal.SIG_DFL),
):
    if hasattr(signal, name) and signal.getsignal(getattr(signal, name)) is signal.SIG_IGN:
        signal.signal(getattr(signal, name), handler)
