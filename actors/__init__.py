"""Who acts: state and behaviour; knows no files, terminals or engines. Part of hush."""
