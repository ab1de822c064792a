"""Compare: several systems over the same units."""
