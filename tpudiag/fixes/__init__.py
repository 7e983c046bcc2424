"""The changes that mend findings: one file a family, made on the user's own syntax tree."""
