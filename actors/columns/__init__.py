"""Wakes in columns: what messages do, who wakes when and what releases cost is settled for many wakes, then agents learn."""
