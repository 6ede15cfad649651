"""The papers' figures, tables and claims: what each says, what hush runs for it, and whether it holds."""
