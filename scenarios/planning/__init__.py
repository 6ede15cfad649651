"""Turns checked values into a plan: frozen, complete, nothing left to decide."""
