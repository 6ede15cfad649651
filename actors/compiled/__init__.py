"""Wakes compiled by numba: many of them in one call, between two entries of the engine, in their exact order."""
