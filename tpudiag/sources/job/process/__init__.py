"""The observed process, whatever its framework: starting it, limiting it, and talking to it."""
