"""Follows a live or a recorded run, and keeps what a screen shows of it."""
