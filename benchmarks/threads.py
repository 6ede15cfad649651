"""One thread for each linear algebra library: set before NumPy is imported."""

import os

NAMES = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS")


def one_thread() -> None:
    """Ask for one thread in this process and in its children."""
    for name in NAMES:
        os.environ[name] = "1"
