"""The families of words that `hush show WORD` explains: a file each."""
