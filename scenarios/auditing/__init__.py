"""Tries to refute what a plan claims about privacy."""
