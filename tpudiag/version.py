"""The version of tpudiag, for those who may not import the package's front."""

__version__ = "0.1.0"
