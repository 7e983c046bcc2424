"""Files of the job's own that hide an installed module of their name: `keras/`, `random.py`."""

import sys
import sysconfig
import traceback
from importlib.machinery import PathFinder
from pathlib import Path

from tpudiag.signals import HiddenModule
from tpudiag.sources.job.points import user_lines

_FOLDERS = [sysconfig.get_paths()[each] for each in ("stdlib", "platstdlib", "purelib", "platlib")]


def hides(name: str, file: str | None) -> bool:
    """Whether a file of the user's is found in the place of an installed module.

    A package that is installed from its source folder (`pip install -e`) hides none.
    """
    if "." in name or not file or not user_lines.is_user_file(file):
        return False
    installed = PathFinder.find_spec(name, _FOLDERS)
    return installed is not None and not _is_copy(file, installed.origin or file)


def _is_copy(file: str, origin: str) -> bool:
    """Whether a package is the installed one in another folder: it has most of its parts."""
    if file == origin or not (file.endswith("__init__.py") and origin.endswith("__init__.py")):
        return file == origin
    parts, others = ({each.name for each in Path(f).parent.iterdir()} for f in (file, origin))
    return 2 * len(parts & others) > len(others)


def behind(error: BaseException) -> HiddenModule | None:
    """The module that an exception's words name and that is not the one that was asked for.

    The job's own code may ask its own file for what it lacks: that is no mix-up.
    """
    if not isinstance(error, AttributeError | ImportError):
        return None
    asking = [frame.f_code.co_filename for frame, _ in traceback.walk_tb(error.__traceback__)]
    asking = [file for file in asking if not file.startswith("<")]
    early = "partially initialized" in str(error)
    if not early and (not asking or user_lines.is_user_file(asking[-1])):
        return None
    for name, module in list(sys.modules.items()):
        file = getattr(module, "__file__", None)
        named = f"'{name}'" in str(error) or f"'{name}." in str(error)
        if named and hides(name, file):
            return HiddenModule(name, user_lines.shown(file or ""))
    return None
