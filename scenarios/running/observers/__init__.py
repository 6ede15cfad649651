"""Observers of a run: each folds the events that it subscribes to, and changes nothing."""
