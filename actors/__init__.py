"""Agents: their state, their links, their behaviours and what faults do to them; no files, terminals or engines. Part of hush."""
