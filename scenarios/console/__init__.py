"""The live console: a person watches a run, or a recording of one, and may lay hands on it."""
