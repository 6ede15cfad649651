"""Turns TOML text into checked values, and says what is wrong with it and where. Loads no NumPy."""
