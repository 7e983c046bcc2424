"""One file, one function, one check: reached through tpudiag.catalogue only."""
