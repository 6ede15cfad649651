"""Runs many scenarios: tests, random worlds, sweeps."""
