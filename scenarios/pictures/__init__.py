"""Draws what records hold."""
