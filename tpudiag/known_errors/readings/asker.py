# ruff: noqa: E501  (what is pasted stays in one piece)
"""Which package asks another one for a name that it lacks: the last frame of a traceback decides."""

from __future__ import annotations

import re
import sys

from .meaning import Reading

FAMILIES = (
    *("other-release", "removed-name", "moved-modules", "private-names", "mismatched-keras"),
    *("version-requirement", "python-release", "package-missing"),
)
"""Families of errors that name what a module lacks."""
_FRAME = re.compile(
    r"(?:(?:site|dist)-packages|bazel-bin/[\w./-]{1,80}runfiles)/+(?P<package>\w{2,40})"
    r"(?:/+(?P<file>[\w./-]{1,160}))?\.py(?=[\"',:]|in[\w<])"
    r"|(?P<own>File\"(?!<frozen|[^\"]{0,200}(?:/lib/python\d|-packages/|runfiles/))[^\"]{1,200}\",line\d|<ipython-input|CellIn\[|InputIn\[|ipykernel_\d)"
)
_WRAPPERS = re.compile(
    r"lazy_loader|module_wrapper|deprecation_wrapper|traceback_utils|import_util"
)
_LACKS = (
    re.compile(r"module'(?P<module>[\w.]{2,100})'hasnoattribute'(?P<name>\w{1,60})'"),
    re.compile(
        r"cannotimportname'(?P<name>\w{1,60})'from(?:partiallyinitializedmodule)?'(?P<module>[\w.]{2,100})'"
    ),
    re.compile(
        r"from(?P<module>[a-z][\w.]{2,80}?)import(?P<names>[\w,]{1,80}?)(?:\w{0,20}Error:)cannotimportname'?(?P<name>\w{1,60})'?"
    ),
    re.compile(r"Nomodulenamed'(?P<name>(?P<module>\w{2,40})\.[\w.]{2,100})'"),
)
_SAME = {"tensorflow_core": "tensorflow", "tensorflow_api": "tensorflow"}
_FITTING = {
    "tensorflow_probability": 'pip install -U "tensorflow-probability[tf]" tf-keras      # beside TensorFlow 2.16 and later; its release for an older one: 0.23 for 2.15, 0.20 for 2.12, 0.12 for 2.4 (the second number is TensorFlow\'s and 8 more)',
    "tensorflow_addons": 'pip install "tensorflow==2.15.*" "keras==2.15.*" "tensorflow-addons==0.23.*"      # its last release (2024): it was never made for Keras 3\n'
    "# or without it: keras.optimizers.AdamW, keras.layers.GroupNormalization, keras.metrics.F1Score are Keras's own now",
    "tf_keras": 'pip install --force-reinstall --no-deps "<<keras2>>"      # tf-keras has TensorFlow\'s number: 2.16 for 2.16; nightly with nightly',
    "keras": "pip install --force-reinstall \"keras==$(python -c 'import tensorflow as tf; print(tf.__version__[:4])').*\"      # up to TensorFlow 2.15 keras has its number; keras>=3 from 2.16 on; 2.3.1 for 1.15 to 2.1",
    "tensorflow_estimator": "pip install \"tensorflow-estimator==$(python -c 'import tensorflow as tf; print(tf.__version__[:4])').*\"      # TensorFlow's number, up to 2.15",
    "official": "pip install \"tf-models-official==$(python -c 'import tensorflow as tf; print(tf.__version__[:4])').*\"      # TensorFlow's number",
    "tensorflow_text": "pip install \"tensorflow-text==$(python -c 'import tensorflow as tf; print(tf.__version__[:4])').*\"      # TensorFlow's number",
}
"""By the package that asks: which of its releases goes with which TensorFlow."""


def read(before: str, error: str) -> Reading | None:
    """Who asks whom, where the last frame before an error lies in an installed package.

    `before`: the traceback; `error`: its last sentence, both without white space.
    """
    frames = [each for each in _FRAME.finditer(before) if not _WRAPPERS.search(each[0])]
    lacks = next((hit for form in _LACKS if (hit := form.search(error))), None)
    if not frames or frames[-1]["own"] or lacks is None:
        return None
    asks, module, name = frames[-1]["package"], lacks["module"], lacks["name"]
    asks, asked = (_SAME.get(each, each) for each in (asks, module.partition(".")[0]))
    file = f"{asks}/{frames[-1]['file']}.py" if frames[-1]["file"] else f"{asks}.py"
    if asked in sys.stdlib_module_names:
        return _of_python(asks, file, full=f"{module}.{name}") if asked != "typing" else None
    if asks == asked:
        return Reading(
            f"`{asked}` itself ({file}) does not find its own `{name}`: parts of two releases of it lie over each other, or a notebook still holds the older half.",
            f"pip uninstall -y {_dashed(asked)}; pip install --no-cache-dir {_dashed(asked)}      # then restart the kernel (process)",
            whole=True,
        )
    fix = _FITTING.get(
        asks,
        f"pip install -U {_dashed(asks)}      # a release of it that was made for the {_dashed(asked)} that is here",
    )
    return Reading(
        f"Not your code but the installed package `{asks}` ({file}) asks `{module}` for `{name}`, and the {asked} that is installed has none: the two are of releases that do not go together.{_older(asks, asked, module, name)}",
        f"{fix}\npip show {_dashed(asks)} {_dashed(asked)} | grep -E '^(Name|Version)'      # or {_dashed(asked)} in the release that {_dashed(asks)} was made for: pip check",
        whole=True,
    )


def _of_python(asks: str, file: str, *, full: str) -> Reading:
    """A package that asks Python for a name that it has no more."""
    return Reading(
        f"Not your code but the installed package `{asks}` ({file}) asks Python for `{full}`, which this Python has no more: {asks} is older than this Python.",
        f"pip install -U {_dashed(asks)}                    # a release for this Python, if TensorFlow here takes it: pip check\n"
        "uv venv --python 3.9                          # or the Python of its time: collections lost its names in 3.10, inspect.getargspec in 3.11, imp and distutils in 3.12",
        whole=True,
    )


def _older(asks: str, asked: str, module: str, name: str) -> str:
    """Which of the two is the older one, where the name tells."""
    from .names import has_lost, since

    full = name if name.startswith(f"{asked}.") else f"{module}.{name}"
    if release := since(full):
        return f" The name came with TensorFlow {release}: {asked} is too old for this {asks}."
    private = ".python" in full or "_" in (full.partition(".")[0][:1], name[:1])
    if not private and has_lost(full):
        return f" {asked} had that name and lost it: {asks} is too old for this {asked}."
    if (asks, asked) == ("keras", "tensorflow"):
        return f" The package keras is newer than this TensorFlow, which has no `{name}` yet."
    return ""


def _dashed(module: str) -> str:
    """A package as pip knows it."""
    return {
        "cv2": "opencv-python-headless",
        "PIL": "pillow",
        "yaml": "pyyaml",
        "official": "tf-models-official",
    }.get(module, module.replace("_", "-"))
