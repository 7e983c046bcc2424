"""Source changes that fix findings: one file per family, made on the user's own syntax tree."""
