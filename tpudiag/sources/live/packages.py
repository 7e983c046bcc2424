"""Packages of another process, by the folder in which they are installed."""

from contextlib import suppress
from importlib.metadata import Distribution, distributions
from pathlib import Path


def package(folder: Path | str, *names: str) -> Distribution | None:
    """The first of the named packages in a folder; None where there is none."""
    for name in names:
        with suppress(OSError):
            for found in distributions(name=name, path=[str(folder)]):
                return found
    return None
