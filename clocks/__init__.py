"""When: the only code that knows an engine."""
