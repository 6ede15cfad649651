"""The claims: a file for each figure, table or part of the text, which holds a tuple `KINDS` of `Claim`."""
