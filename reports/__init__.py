"""One file a renderer, each a function from a Report to text: reached through tpudiag.catalogue only."""
