"""Turns a plan into a world, runs it, and observes what happens."""
