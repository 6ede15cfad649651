"""Writes what a run leaves, and reads it back."""
