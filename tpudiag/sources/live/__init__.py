"""Live trainers as a source of signals."""
