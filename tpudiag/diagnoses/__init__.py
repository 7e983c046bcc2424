"""One module for each thing that can be diagnosed: a request and settings in, a Report out."""
