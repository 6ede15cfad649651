"""Owns the terminal: keyboard, frames, one run or two side by side."""
