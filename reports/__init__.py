"""One file a renderer, each from a Report to text: reached through tpudiag.catalogue only."""
