"""Turns a model of the screen into styled lines. Pure functions."""
