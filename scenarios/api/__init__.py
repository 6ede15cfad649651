"""What scripts and the command share: run a scenario, check it, open what a run left."""
