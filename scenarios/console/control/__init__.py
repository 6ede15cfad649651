"""Turns keys and typed lines into commands on a run or on the screen."""
