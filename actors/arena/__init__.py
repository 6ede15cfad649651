"""Agents whose wakes are computed many at a time, between two entries of the engine: their counters lie in one arena."""
