"""The accountants that scenarios may name: a file each."""
