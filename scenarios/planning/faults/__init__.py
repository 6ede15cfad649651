"""One module for each action of a fault: its record, `KIND`, and everything that only this action needs."""
