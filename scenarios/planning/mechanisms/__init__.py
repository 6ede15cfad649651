"""The kinds of mechanism: one record for each, in a file of its name, beside its parameters."""
