"""When: the only code that knows an engine. Part of hush."""
