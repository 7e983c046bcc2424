"""Started by path in the job's Python: makes the job's side of tpudiag importable there.

`python -B bootstrap.py SPEC PIPE`: SPEC is a JobSpec as JSON, PIPE the descriptor for facts.
Nothing is installed, and sys.path is that of a job started by hand: only this package is found, in
this file's folder, and no package of the tool's environment. `runner` has compiled it before.
"""

import importlib.abc
import sys
from collections.abc import Sequence
from importlib.machinery import SOURCE_SUFFIXES, FileFinder, ModuleSpec, SourceFileLoader
from pathlib import Path
from types import ModuleType

PACKAGE = Path(__file__).resolve().parents[3]


class OwnPackage(importlib.abc.MetaPathFinder):
    """Finds the modules of this package, wherever it lies, and nothing else."""

    def find_spec(
        self, name: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """The module's spec, None for everything outside this package."""
        if name.partition(".")[0] != PACKAGE.name:
            return None
        # A FileFinder for one folder, instead of a sys.path entry: with the tool's site-packages
        # the job would import the tool's numpy or protobuf instead of its own.
        for folder in path or (str(PACKAGE.parent),):
            spec = FileFinder(folder, (SourceFileLoader, SOURCE_SUFFIXES)).find_spec(name, target)
            if spec is not None and spec.loader is not None:
                return spec
        return None


def main() -> None:
    """Observe the job of the command line."""
    if not getattr(sys.flags, "safe_path", False):
        # Python puts the folder of its script first: modules there (`cells`, `protocol`) would hide
        # the job's own of the same names.
        del sys.path[0]  # this file's folder
    # Before all others: the job's environment may hold another version of tpudiag.
    sys.meta_path.insert(0, OwnPackage())
    from tpudiag.sources.job.process import child

    child.main()


if __name__ == "__main__":
    main()
