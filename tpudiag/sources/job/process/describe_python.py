"""Run in a Python by its text (`python -c`): tells as JSON what it is and what is installed in it.

Any Python 3 reads it, so that one too old can say so. Nothing is imported but the standard library.
"""

import json
import sys

MARK = "tpudiag: "


# Annotations as text: before Python 3.9 list[str] is an error when it is evaluated.
def describe(names: "list[str]") -> "dict[str, object]":
    """The version, the installed distributions of those named, and where TensorFlow lies."""
    versions = {}
    for name in names:
        try:
            from importlib.metadata import version  # from Python 3.8 on

            versions[name] = str(version(name))
        except Exception:  # not installed, or its metadata is mangled
            continue
    try:
        from importlib import util

        spec = util.find_spec("tensorflow")
    except Exception:  # whatever a finder of that environment raises
        spec = None
    return {
        "python": ".".join(str(part) for part in sys.version_info[:3]),
        "executable": sys.executable,
        "prefix": sys.prefix,
        "distributions": versions,
        "tensorflow": spec.origin if spec else None,
    }


if __name__ == "__main__":
    # With -c the working folder is on the path, and a tensorflow.py there would pass for
    # TensorFlow.
    sys.path[:] = [entry for entry in sys.path if entry]
    print(MARK + json.dumps(describe(sys.argv[1].split(","))))
