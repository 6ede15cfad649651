"""The papers' claims: what judges them, and what is kept of them."""
