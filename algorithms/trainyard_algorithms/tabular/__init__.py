"""CSV tables: what each column is, splits, blanks, batches."""
