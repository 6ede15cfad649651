"""What releases cost: frozen spends, the ledger that holds them, and their composition."""
