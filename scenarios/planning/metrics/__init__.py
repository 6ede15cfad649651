"""The metrics, a record each: a file is a noun, and may hold several. A new metric is a new file, or a new record here."""
