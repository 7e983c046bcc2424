"""Plotly, as far as it is used."""
