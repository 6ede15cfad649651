"""Behaviours: which neighbours an agent exchanges messages with, and when; one loop a file."""
