"""Who watches a run: each folds the events that it asked for."""
