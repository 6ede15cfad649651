"""Stretches of wakes: many wakes are settled, charged and sent in columns, and then each agent learns, one after the other."""
