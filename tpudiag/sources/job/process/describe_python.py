"""Run in a Python by its text (`python -c`): prints as JSON its version and installed packages.

Any Python 3 can read it, so that an old one can report itself. Only the standard library is used.
"""

import json
import sys

MARK = "tpudiag: "


# Annotations as text: before Python 3.9 evaluating list[str] is an error.
def describe(names: "list[str]") -> "dict[str, object]":
    """The version, the named installed distributions, and TensorFlow's location."""
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
        "release": ".".join(str(part) for part in sys.version_info[:3]),
        "prefix": sys.prefix,
        "distributions": versions,
        "tensorflow": spec.origin if spec else None,
    }


if __name__ == "__main__":
    # With -c the working folder is on the path, and a tensorflow.py there would count as
    # TensorFlow.
    sys.path[:] = [entry for entry in sys.path if entry]
    print(MARK + json.dumps(describe(sys.argv[1].split(","))))
