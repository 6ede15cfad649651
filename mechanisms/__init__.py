"""What is computed: mathematics on arrays; no time, no agents, no files. Part of hush."""
