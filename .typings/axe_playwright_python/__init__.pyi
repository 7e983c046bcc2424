"""axe-core for playwright, as far as it is used."""
