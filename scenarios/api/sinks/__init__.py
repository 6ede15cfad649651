"""Programs that track experiments: one record a file. `scenarios/api/export.py` writes runs to them."""
