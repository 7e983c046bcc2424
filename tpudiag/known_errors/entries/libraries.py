# ruff: noqa: E501  (texts of other programs stay as they are)
"""Shared libraries that are missing, and packages that pip cannot put together."""

from __future__ import annotations

from tpudiag.known_errors.model import Kind, KnownError, Phase

ERRORS = (
    KnownError(
        id="E240",
        family="shared-library-missing",
        phase=Phase.INSTALLING,
        kind=Kind.BROAD,
        patterns=(
            r"(?P<library>libpython[\d.]{1,8}m?\.so[.\d]{0,8}): cannot open shared object",
            r"ImportError: ?(?P<library>lib[\w+.-]{1,60}\.so[.\d]{0,12}): cannot open shared object file",
            r"OSError: ?(?P<library>lib[\w+.-]{1,60}\.so[.\d]{0,12}): cannot open shared object file",
            r"(?P<library>lib[\w+.-]{1,60}\.so[.\d]{0,12})"
            "\uff1a"
            r"cannot open shared object file",
            r"(?P<library>_pywrap_tensorflow_internal\.so): cannot open shared object file",
        ),
        cause="A shared library that a package was linked to is not where the loader looks: Python's own library in a conda or pyenv environment (torch_xla, JAX plugins), or one of the system or of another package's release.",
        details=("The library is {library}.",),
        fix="""\
find / -name "LIBRARY*" 2>/dev/null                              # is it anywhere?
export LD_LIBRARY_PATH="$(python -c 'import sysconfig; print(sysconfig.get_config_var("LIBDIR"))'):$LD_LIBRARY_PATH"      # libpython of this environment
sudo apt-get install libpython3.11                               # or the system's, for the version named
# a library of PyTorch (libtorch_*.so): torch and torch_xla must be of one release""",
        citations=(
            "pytorch/xla#6372",
            "tenstorrent/tt-xla#2839",
        ),
        example="ImportError: libpython3.11.so.1.0: cannot open shared object file: No such file or directory",
        near_miss="Could not load dynamic library 'libcudart.so.11.0'; dlerror: libcudart.so.11.0: cannot open shared object file",
        yields_to=("E75", "E221", "E242", "N02"),
    ),
    KnownError(
        id="E241",
        family="old-system-libraries",
        phase=Phase.INSTALLING,
        patterns=(
            r"version `?'?(?P<version>GLIBC(?:XX)?_[\d.]{1,8})'? not found",
            r"version `?'?(?P<version>CXXABI_[\d.]{1,8})'? not found",
            r"requires (?P<version>manylinux[\w.]{1,12})",
        ),
        cause="The system's C or C++ library is older than the one that the package was built for: an old image, or conda's older libstdc++ found first.",
        details=("It lacks {version}.",),
        fix="""\
ldd --version; strings /usr/lib/x86_64-linux-gnu/libstdc++.so.6 | grep GLIBCXX | tail -1
conda install -c conda-forge libstdcxx-ng                         # GLIBCXX in conda
# GLIBC: a newer image (Ubuntu 22.04), or an older release of the package""",
        citations=("secretflow/spu#741",),
        example="ImportError: /lib/x86_64-linux-gnu/libm.so.6: version `GLIBC_2.29' not found",
    ),
    KnownError(
        id="E242",
        family="torch-xla-pair",
        phase=Phase.INSTALLING,
        patterns=(
            r"_XLAC\S{0,60}?: undefined symbol",
            r"undefined symbol: _ZNK?\d{0,3}(?:c10|2at|3c10|5torch|2at4)\w{0,200}",
            r"libtorch\w{0,12}\.so: cannot open shared object file",
            r"torch_xla.{0,200}?undefined symbol",
            r"operator torchvision::nms does not exist",
        ),
        cause="torch and torch_xla are of different releases: torch_xla is compiled against exactly one torch.",
        fix="""\
pip list | grep -iE "^torch"
pip install "torch~=2.6.0" "torch_xla[tpu]~=2.6.0"               # the same release of both (2.6 as an example), then restart the kernel
pip uninstall torchvision torchaudio                              # where they pull another torch in""",
        citations=(
            "jax-ml/jax#19963",
            "pytorch/xla#3211",
            "pytorch/xla#1794",
        ),
        example="ImportError: /usr/local/lib/python3.7/dist-packages/_XLAC.cpython-37m-x86_64-linux-gnu.so: undefined symbol: _ZN2at13_foreach_erf_EN3c108ArrayRefINS_6TensorEEE",
    ),
    KnownError(
        id="E243",
        family="no-such-release",
        phase=Phase.INSTALLING,
        patterns=(
            r"No matching distribution found for (?P<package>[\w.\-\[\]]{1,60})",
            r"Could not find a version that satisfies the requirement (?P<package>[\w.\-\[\]]{1,60})",
            r"Requires-Python.{0,60}?Package '(?P<package>[\w-]{1,60})' requires a different Python",
            r"is not a supported wheel on this platform",
            r"Failed building wheel for (?P<package>[\w-]{2,40})",
            r"metadata-generation-failed",
            r"Ignored the following versions that require a different python",
            r"Could not build wheels for (?P<package>[\w-]{1,60})",
            r"ResolvePackageNotFound",
            r"specifications were found to be incompatible with",
        ),
        cause="pip finds no such release for this Python and platform: the version does not exist (any more), is for other Pythons (TensorFlow 1.15 wants 3.7; 2.16 wants 3.9 to 3.12), or for Linux on x86-64 only (tensorflow-tpu, libtpu).",
        details=("The package is {package}.",),
        fix="""\
python --version; pip --version; uname -m                       # which Python, which platform
pip index versions PACKAGE                                      # what there is for it
<<tpu_environment>>      # a Python that the release has wheels for""",
        yields_to=(
            "E617",
            "E606",
        ),
        evidence="recalled",
        example="ERROR: No matching distribution found for tensorflow==1.15",
    ),
    KnownError(
        id="E244",
        family="conflicting-packages",
        phase=Phase.INSTALLING,
        kind=Kind.BROAD,
        patterns=(
            r"ResolutionImpossible",
            r"pip's dependency resolver does not currently take into account",
            r"\d requires (?P<package>[\w-]{2,40})[<>=!~].{0,90}?(?:but you have|which is (?:incompatible|not installed))",
            r"(?P<package>[\w-]{2,40}) [\d.]{1,12} has requirement .{2,80}?, but you'll have .{2,60}? which is incompatible",
            r"conflicting dependencies",
            r"dependency conflict",
            r"externally-managed-environment",
            r"ContextualVersionConflict",
        ),
        cause="The packages asked for cannot be installed together here: two of them want different versions of a third, or the system's Python refuses pip.",
        details=("The version of {package} does not fit.",),
        fix="""\
uv venv ~/tpu && source ~/tpu/bin/activate                       # an environment of its own, without what is left over
uv pip install tensorflow-tpu tf-keras                           # one command with all of them: the resolver sees the whole
pip check""",
        evidence="recalled",
        example="ERROR: pip's dependency resolver does not currently take into account all the packages that are installed. This behaviour is the source of the following dependency conflicts.",
        level="warning",
    ),
    KnownError(
        id="E245",
        family="windows",
        phase=Phase.INSTALLING,
        patterns=(
            r"DLL load failed(?: while importing (?P<name>\w{1,60}))?",
            r"Failed to load the native TensorFlow runtime.{0,400}?Windows",
            r"Could not find the DLL\(s\)",
        ),
        cause="TensorFlow's library does not load on Windows: the Visual C++ runtime is missing or the processor lacks AVX. There is no TPU on Windows: jobs for a TPU run on Linux.",
        fix="""\
# for a TPU: Linux (a TPU VM, Colab, Kaggle; WSL2 to rehearse on Windows)
wsl --install
# on Windows itself: the Visual C++ Redistributable 2015-2022, 64-bit Python, pip install --force-reinstall tensorflow""",
        evidence="recalled",
        yields_to=("E688",),
        example="ImportError: DLL load failed while importing _pywrap_tensorflow_internal: A dynamic link library (DLL) initialization routine failed.",
    ),
    KnownError(
        id="E688",
        family="custom-op-library",
        phase=Phase.INSTALLING,
        patterns=(
            r"DLL load failed while importing (?P<name>_?pywrap_tensorflow_(?:text|io|addons)|_sentencepiece_tokenizer|_normalize_ops\w{0,10}|_\w{1,40}_ops?)",
            r"(?:import tensorflow_text|tensorflow_text[\\/]\w{1,30}[\\/].{0,120}?).{0,400}?DLL load failed",
        ),
        cause="A library with operations of its own (tensorflow-text, tensorflow-io, tensorflow-addons) is built for another TensorFlow than is installed: its compiled part does not load. On Windows tensorflow-text ends with 2.10.",
        details=("It is {name}.",),
        fix="""\
pip install "tensorflow==2.10.*" "tensorflow-text==2.10.*"      # Windows: the last pair; elsewhere the same minor version of both
pip install "tensorflow==2.15.*" "tensorflow-text==2.15.*"      # Linux or WSL2, where jobs for a TPU run
pip list | grep -iE 'tensorflow|tf-models'""",
        citations=("tensorflow/models#11068",),
        example="ImportError: DLL load failed while importing _pywrap_tensorflow_text: The specified procedure could not be found.",
    ),
)
