# ruff: noqa: E501  (texts of other programs stay as they are)
"""Imports that fail for what stands around them: names of files, order, Python's own release."""

from __future__ import annotations

from tpudiag.known_errors.model import KnownError, Phase

ERRORS = (
    KnownError(
        id="E615",
        family="circular-import",
        phase=Phase.INSTALLING,
        patterns=(
            r"partially initialized module '(?P<name>[\w.]{1,60})'",
            r"most likely due to a circular import",
            r"consider renaming '(?P<name>[^\s']{1,120})' since it has the same name as",
        ),
        cause="A module is asked for a name while it is still being imported: a file or folder of your own has the name of a package (tensorflow.py, keras.py, jax.py, tokenize.py) and hides it, two of your modules import each other, or in a notebook a package was upgraded while its old half was loaded.",
        details=("It is {name}.",),
        fix="""\
ls tensorflow* keras* jax* numpy* 2>/dev/null                       # in the working directory: rename your own file, delete __pycache__
python -c "import tensorflow; print(tensorflow.__file__)"            # run elsewhere: is it the installed one?
# a notebook: restart the kernel after pip install, then import
# two modules of your own: move the import into the function that needs it""",
        evidence="recalled",
        example="AttributeError: partially initialized module 'tensorflow' has no attribute 'Variable' (most likely due to a circular import)",
    ),
    KnownError(
        id="E616",
        family="static-tls",
        phase=Phase.INSTALLING,
        patterns=(
            r"[Cc]annot allocate memory in static TLS block",
            r"cannot load any more object with static TLS",
            r"dlopen: .{0,120}?static TLS",
        ),
        cause="A compiled library (tcmalloc, libgomp, scikit-learn's, torch's) was loaded too late: the space for thread-local variables that libraries share is used up by those imported before. It is not about the machine's memory.",
        fix="""\
LD_PRELOAD=/usr/lib/x86_64-linux-gnu/libtcmalloc.so.4 python train.py      # the library that is named: loaded first
import sklearn, torch; import tensorflow as tf                              # or imported before the others
export GLIBC_TUNABLES=glibc.rtld.optional_static_tls=4096                    # glibc 2.32 and later: more of that space""",
        useless="more RAM or a smaller batch: it is not memory that is short",
        evidence="recalled",
        example="ImportError: /usr/lib/x86_64-linux-gnu/libtcmalloc.so.4: cannot allocate memory in static TLS block",
    ),
    KnownError(
        id="E617",
        family="python-release",
        phase=Phase.INSTALLING,
        patterns=(
            r"module 'collections' has no attribute '(?P<name>(?:Mutable)?(?:Iterable|Mapping|Sequence|Set|Callable|Hashable)|Container|Iterator)'",
            r"cannot import name '(?P<name>(?:Mutable)?(?:Iterable|Mapping|Sequence|Set|Callable|Hashable)|Container|Iterator)' from 'collections'",
            r"module 'pkgutil' has no attribute '(?P<name>ImpImporter)'",
            r"module 'inspect' has no attribute '(?P<name>getargspec|ArgSpec|formatargspec)'",
            r"module 'asyncio' has no attribute '(?P<name>coroutine|async)'",
            r"module 'time' has no attribute '(?P<name>clock)'",
            r"module 'typing' has no attribute '(?P<name>\w{2,30})'",
            r"cannot import name '(?P<name>\w{2,30})' from 'typing'",
            r"No module named '(?P<name>imp|pkg_resources|asyncore|cgi|telnetlib)'",
            r"'(?:ABCMeta|type)' object is not subscriptable",
            r"unsupported operand type\(s\) for \|: ?'(?:type|_GenericAlias|ABCMeta|\w{0,20}Meta)'",
            r"requires a different Python: (?P<name>[\d.]{3,8}) not in",
            r"Python (?P<name>3\.\d{1,2})(?:\.\d{1,2})? is not supported",
            r"requires Python '?[<>=!]{1,2} ?(?P<name>3\.\d{1,2})",
        ),
        cause="The code and the Python that runs it are of different ages: an old package on a new Python (names left collections in 3.10, imp, distutils and pkg_resources' parts went with 3.12), or a new package on an old Python (3.8 knows no list[int], 3.9 no `int | None`).",
        details=("It is {name}.",),
        fix="""\
python --version; python -m pip show PACKAGE                    # the package of the traceback's last file: its release and what it wants
pip install -U PACKAGE setuptools wheel                         # a release for this Python
uv venv --python 3.10 && uv pip install "tensorflow==2.13.*"     # or a Python of the code's time: 2.10 to 2.13: 3.8 to 3.11; 2.16 and later: 3.9 to 3.12; tensorflow-tpu <<tpu_release>>: up to <<tpu_python>>
pip install "setuptools<81"                                      # pkg_resources""",
        evidence="recalled",
        example="AttributeError: module 'collections' has no attribute 'Iterable'",
        yields_to=("P42",),
    ),
    KnownError(
        id="N20",
        family="preload-remarks",
        phase=Phase.ANY,
        level="info",
        patterns=(
            r"from LD_PRELOAD cannot be preloaded.{0,80}?ignored",
            r"Ignoring invalid distribution",
        ),
        cause="No error: a library that LD_PRELOAD names is not in this container (tcmalloc of the TPU VM's image), or a folder is left of a package that was being upgraded; it goes on without.",
        fix="unset LD_PRELOAD      # hides the first; the second: rm -r site-packages/~*",
        evidence="recalled",
        example="ERROR: ld.so: object '/usr/lib/x86_64-linux-gnu/libtcmalloc.so.4' from LD_PRELOAD cannot be preloaded: ignored.",
    ),
)
