"""The sources of signals: each fills some Signals and knows no check."""
