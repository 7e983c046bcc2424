# ruff: noqa: E501  (texts of other programs stay as they are)
"""Python's own errors in training scripts: packages, names, objects and calls."""

from __future__ import annotations

from tpudiag.known_errors.model import Kind, KnownError, Phase, Rival

ERRORS = (
    KnownError(
        id="E280",
        family="package-missing",
        phase=Phase.INSTALLING,
        kind=Kind.BROAD,
        patterns=(
            r"ModuleNotFoundError: No module named '(?P<module>(?P<name>\w{1,60})(?:\.[\w.]{1,80})?)'",
            r"ImportError: No module named '(?P<module>(?P<name>\w{1,60})(?:\.[\w.]{1,80})?)'",
            r"Missing runtime dependency on the Google API client",
        ),
        cause="The module is not installed in the Python that runs the script, or is no longer part of the release that is installed; a file or folder of the same name in the working directory hides it too.",
        details=("The module is {module}.",),
        fix="""\
python -m pip show <<name>>; python -c "import sys; print(sys.executable)"     # which Python runs, what it has
python -m pip install <<name>>                                                  # names differ: official is tf-models-official, cv2 is opencv-python, sklearn is scikit-learn
export PYTHONPATH=$PYTHONPATH:/path/to/models:/path/to/models/research       # a module of the repository itself (object_detection, official)""",
        rivals=(
            Rival(
                cause="the package is not in the Python that runs: it was installed into another one (a virtual environment, sudo's, the notebook's kernel, another worker of the slice)",
                look_for="the paths in the traceback; pip's own path (pip --version)",
                decide='python -c "import sys; print(sys.executable)"; python -m pip show <<name>>',
                fix="python -m pip install <<name>>      # with the Python that runs; %pip install in a notebook, then restart the kernel; every worker: gcloud ... ssh --worker=all",
            ),
            Rival(
                cause="the package is there, in a release that has not this part (moved, removed, or not there yet)",
                look_for="a dot in the name: the package itself is imported elsewhere in the same program",
                decide='python -c "import <<name>>; print(<<name>>.__version__, <<name>>.__file__)"',
                fix='pip install "<<name>>==RELEASE_OF_THE_CODE\'S_TIME"      # its requirements.txt, the date of the notebook; or the new place of the name',
            ),
            Rival(
                cause="it is a module of the script's own repository, which is not on Python's path",
                look_for="a folder or file of that name in the clone; a script started from another folder",
                decide="find . -name '<<name>>*' -not -path '*/site-packages/*' | head",
                fix="cd /path/to/the/clone && export PYTHONPATH=$PYTHONPATH:$PWD      # or pip install -e . ; git submodule update --init, where its folder is empty",
            ),
            Rival(
                cause="a file or folder of one's own with the package's name hides it, or the package is damaged",
                look_for="`is not a package` at the end; a path in the traceback that is not site-packages",
                decide='python -c "import <<name>>; print(<<name>>.__path__)"',
                fix="mv <<name>>.py my_<<name>>.py; rm -rf __pycache__; pip install --force-reinstall --no-deps <<name>>",
                cues=(r"No module named '[\w.]{1,80}'; '[\w.]{1,60}' is not a package",),
            ),
        ),
        evidence="recalled",
        example="ModuleNotFoundError: No module named 'object_detection'",
        yields_to=(
            "E624",
            "E615",
            "E617",
            "P29",
            "P33",
            "P34",
            "E208",
            "E250",
            "P36",
            "P05",
            "E910",
            "P190",
        ),
    ),
    KnownError(
        id="E281",
        family="other-release",
        phase=Phase.BUILDING,
        kind=Kind.BROAD,
        patterns=(
            r"ImportError: cannot import name '(?P<name>\w{1,60})' from '(?P<module>[\w.]{1,80})'",
            r"AttributeError: module '(?P<module>[\w.]{1,80})' has no attribute '(?P<name>\w{1,60})'",
            r"TypeError: .{0,80}?got an unexpected keyword argument '(?P<name>\w{1,60})'",
            r"AttributeError: \(.module '(?P<module>[\w.]{1,80})' has no attribute '(?P<name>\w{1,60})'",
            r"'module' object has no attribute '(?P<name>\w{1,60})'",
            r"checkpoint saved in future version of TensorFlow",
        ),
        cause="The code and what it calls do not belong together. Of a library: the code was written for another release of it (the name or argument is gone, renamed or new), or two packages are of releases that do not fit. Of your own: it was defined otherwise than it is called.",
        details=("It is {name}.",),
        fix="""\
pip list | grep -iE "tensorflow|keras|jax|transformers|numpy|protobuf"       # which releases are here
pip install "PACKAGE==RELEASE_THE_CODE_WAS_WRITTEN_FOR"                       # its requirements.txt, the date of the notebook
python -c "import PACKAGE; print(PACKAGE.__file__)"                           # a file of your own with that name hides the package""",
        rivals=(
            Rival(
                cause="the code is older or newer than the package: the name or argument is gone, renamed, or not there yet",
                look_for="the date of the script or notebook, its requirements.txt; the file of the traceback that asks is your own or another package's",
                decide="pip list | grep -iE 'tensorflow|keras|jax|transformers|numpy|protobuf'",
            ),
            Rival(
                cause="two packages are of releases that do not belong together: the one whose file asks was made for another release of the other",
                look_for="the last frame before the error lies in site-packages, in another package than the one that lacks the name",
                decide="pip check",
                fix="pip install -U PACKAGE_OF_THE_LAST_FRAME      # or the other one in the release of its time; then restart the kernel",
            ),
            Rival(
                cause="the package is damaged, or two releases of it lie over each other; in a notebook the old half is still loaded",
                look_for="the last frame lies in the very package that lacks the name (its own command or file); it was upgraded in this session",
                decide='python -c "import PACKAGE; print(PACKAGE.__version__, PACKAGE.__file__)"      # in a fresh process',
                fix="pip uninstall -y PACKAGE; pip install --no-cache-dir PACKAGE      # then restart the kernel",
            ),
            Rival(
                cause="a file or folder of one's own with the package's name hides it",
                look_for="a path that is not in site-packages behind the name, or (unknown location)",
                decide='python -c "import PACKAGE; print(PACKAGE.__path__)"',
                cues=(r"cannot import name '\w{1,60}' from '[\w.]{1,80}' \(unknown location\)",),
            ),
        ),
        evidence="recalled",
        example="ImportError: cannot import name 'linear_util' from 'jax'",
        yields_to=(
            "E914",
            "E631",
            "E624",
            "E615",
            "E617",
            "E610",
            "E611",
            "P30",
            "E607",
            "P120",
            "P03",
            "P29",
            "P36",
            "P25",
            "P31",
            "P20",
            "E71",
            "E73",
            "E204",
            "E72",
        ),
    ),
    KnownError(
        id="E282",
        family="none-object",
        phase=Phase.ANY,
        kind=Kind.BROAD,
        patterns=(
            r"'?NoneType'? object has no attribute '?(?P<name>\w{1,60})",
            r"'NoneType' object is not (?P<name>subscriptable|iterable|callable)",
            r"operand type\(s\) for .{1,12}?: .{0,12}?'NoneType'",
            r"best_weights\).{0,40}?NoneType",
            r"cannot unpack non-iterable NoneType",
            r"os\.PathLike object, not NoneType",
            r"argument must be .{0,80}?not 'NoneType'",
        ),
        cause="None stands where an object was expected: a function that returns nothing, an image or file that was not found (cv2.imread, a dict's get), a TPU that was not detected, an unknown dimension used as a number.",
        details=("It was asked for {name}.",),
        fix="""\
# the last line of your own in the traceback names the variable: where does it come from?
assert value is not None                                     # right after it is made
batch = tf.shape(x)[0]                                       # not x.shape[0], which is None for an unknown dimension""",
        evidence="recalled",
        example="AttributeError: 'NoneType' object has no attribute 'shape'",
        yields_to=("E142", "P08", "E90", "E91", "E191", "P06", "E200"),
    ),
    KnownError(
        id="E283",
        family="input-structure",
        phase=Phase.TRACING,
        patterns=(
            r"structures don't have the same (?:nested structure|sequence type|number of elements)",
            r"Structure is a scalar but len\(flat_sequence\)",
            r"None is only supported in the 1st dimension",
            r"Layer .{0,60}? expects? (?:a )?(?:list|tuple|dict)",
            r"could not find (?:input|feature) .{0,60}? in the (?:dict|dataset)",
            r"Could not find matching (?:concrete )?function to call loaded from the SavedModel",
            r"Number of elements must match",
            r"don't have the same sequence length",
        ),
        places=(
            r"saving/saved_model/utils\.py |function_deserialization\.py restored_function_body",
        ),
        cause="Two nested structures (tuple, list, dict of tensors) that should be built alike are not: what the dataset yields and the model takes, the two branches of a condition, the state of a loop before and after, or the arguments of a saved function.",
        fix="""\
print(dataset.element_spec, model.inputs)                     # tuple or list, names, number of tensors, types
dataset = dataset.map(lambda d: ({"ids": d["ids"], "mask": d["mask"]}, d["label"]))     # (inputs, labels)
print(loaded.signatures["serving_default"].structured_input_signature)                   # what a SavedModel takes""",
        evidence="recalled",
        example="TypeError: The two structures don't have the same sequence type. Input structure has type tuple, while shallow structure has type list.",
        yields_to=("E181",),
    ),
)
