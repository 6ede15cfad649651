"""Who talks to whom, and when: one loop a file."""
