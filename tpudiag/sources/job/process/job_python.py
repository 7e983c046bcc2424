"""Chooses a job's Python: the user's own environment, as the user's shell would.

In this order: the named one (`--python`, or `python` of [tool.tpudiag]), the active environment
(VIRTUAL_ENV, CONDA_PREFIX), `.venv` in the project's folder, a `python3` on PATH with TensorFlow,
and the one that runs this program.
"""

import os
import subprocess
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import msgspec

from tpudiag.errors import MissingExtra, UsageError
from tpudiag.installs.state import none_installed
from tpudiag.signals import Environment, Framework
from tpudiag.sources.environment import runtime_of
from tpudiag.sources.job.process import describe_python
from tpudiag.sources.job.process.python_places import Place, is_own, places

OLDEST = (3, 10)
"""The first Python that can run the job's side."""
DESCRIBE_S = 30.0
"""The time limit for a Python's description: its environment may be on a network disk."""
OF_INTEREST = (
    "tensorflow", "tensorflow-cpu", "tensorflow-tpu", "tensorflow-gpu", "tf-nightly", "keras",
    "tf-keras", "libtpu", "libtpu-nightly", "jax", "jaxlib", "numpy", "protobuf",
)  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class JobPython:
    """A Python and its description."""

    path: str
    because: str
    release: str
    """Its version, e.g. `3.10.13`."""
    prefix: str
    distributions: dict[str, str]
    """Installed distributions that matter, with their versions."""
    tensorflow: str | None
    """The file that `import tensorflow` would run, None where there is none."""

    @property
    def is_own(self) -> bool:
        """Whether it runs this program, too."""
        return is_own(self.prefix)

    @property
    def is_old(self) -> bool:
        """Whether it cannot run the job's side."""
        return tuple(int(part) for part in self.release.split(".")[:2]) < OLDEST

    @property
    def tensorflow_version(self) -> str | None:
        """The version of the distribution that provides TensorFlow."""
        owners, installed = ("tensorflow", "tf-nightly"), self.distributions.items()
        return next((version for name, version in installed if name.startswith(owners)), None)

    def has(self, framework: Framework) -> bool:
        """Whether the job's framework is installed in it."""
        if framework is Framework.JAX:
            return "jax" in self.distributions
        return self.tensorflow is not None

    @property
    def packages(self) -> str:
        """Its frameworks as text, e.g. `TensorFlow 2.13.1, Keras 2.13.1`."""
        words = [f"JAX {self.distributions['jax']}"] if "jax" in self.distributions else []
        if self.tensorflow is not None:
            words.insert(0, f"TensorFlow {self.tensorflow_version or ''}".strip())
        if not words:
            return "no TensorFlow"
        for name, word in (("keras", "Keras"), ("tf-keras", "tf-keras")):
            if name in self.distributions:
                words.append(f"{word} {self.distributions[name]}")
        return ", ".join(words)

    def __str__(self) -> str:
        return f"{self.release} with {self.packages} ({self.because}: {self.path})"


def choose(
    named: Place | None = None,
    program: str | None = None,
    variables: Mapping[str, str] = os.environ,
    folder: Path | None = None,
    framework: Framework = Framework.TENSORFLOW,
) -> JobPython:
    """A job's Python, with the job's framework.

    `program` is a script, whose project may have a `.venv`. Raises UsageError where the named or
    active one cannot be used, MissingExtra where it lacks the framework, or where all candidates
    do.
    """
    others = partial(places, program, variables, folder or Path.cwd())
    if named is not None:
        return _usable(describe(named), others(), framework)
    looked_at: list[JobPython] = []
    for place in others():
        try:
            python = describe(place)
        except UsageError:
            # A broken Python somewhere on PATH is no choice of the user's; a broken active
            # environment is.
            if place.decides:
                raise
            continue
        if place.decides:
            return _usable(python, others(), framework)
        if python.has(framework) and not python.is_old:
            return python
        looked_at.append(python)
    seen = "; ".join(f"{p.path} ({p.because}, Python {p.release})" for p in looked_at)
    how = "environment, or name its Python (--python)"
    if framework is Framework.TENSORFLOW:
        states = (f". {said}" for p in looked_at if (said := none_installed(environment_of(p))))
        how = "environment, name its Python (--python), or pip install 'tpudiag[tf]'"
        how += next(states, "")
    raise MissingExtra(
        f"no {framework.value} in any Python that was looked at: {seen}. Activate your job's {how}"
    )


def environment_of(python: JobPython, variables: Mapping[str, str] = os.environ) -> Environment:
    """The Python as checks see it, and the requested Keras."""
    legacy = variables.get("TF_USE_LEGACY_KERAS", "").lower() in ("1", "true")
    runtime = runtime_of(variables)
    return Environment(python.release, dict(python.distributions), legacy, runtime, python.path)


def describe(place: Place) -> JobPython:
    """Run a Python to describe it; UsageError gives the reason for a failure in one line."""
    command = [
        place.path,
        "-B",
        "-c",
        Path(describe_python.__file__).read_text(encoding="utf-8"),
        ",".join(OF_INTEREST),
    ]
    try:
        done = subprocess.run(
            command,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=DESCRIBE_S,
            check=False,
            stdin=subprocess.DEVNULL,
        )
    except subprocess.TimeoutExpired as error:
        raise UsageError(
            f"{place.because}: {place.path} did not say what it is within {DESCRIBE_S:.0f} s"
        ) from error
    except (OSError, ValueError) as error:  # ValueError: a path with a null byte
        reason = getattr(error, "strerror", None) or error
        raise UsageError(f"{place.because}: {place.path}: {reason}") from error
    # sitecustomize and .pth files of that environment may print first: the answer is the marked
    # line.
    marked = [line for line in done.stdout.splitlines() if line.startswith(describe_python.MARK)]
    try:
        answer = marked[-1].removeprefix(describe_python.MARK)
        said = msgspec.json.decode(answer, type=dict[str, object])
        return msgspec.convert({**said, "path": place.path, "because": place.because}, JobPython)
    except (IndexError, msgspec.MsgspecError):
        raise UsageError(
            f"{place.because}: {place.path} is no Python that starts: {_last_words(done)}"
        ) from None


def variables_for(python: JobPython, variables: Mapping[str, str] = os.environ) -> dict[str, str]:
    """The environment variables as in the job's own shell.

    `uvx` and `pipx run` put the tool's own folder of commands first on PATH.
    """
    kept = dict(variables)
    # A script that starts `python` or `pip` by name must get the user's.
    own = os.path.join(sys.prefix, "bin")  # noqa: PTH118
    if not python.is_own and not is_own(kept.get("VIRTUAL_ENV", "")):
        entries = kept.get("PATH", "").split(os.pathsep)
        kept["PATH"] = os.pathsep.join(entry for entry in entries if entry != own)
    return kept


def _usable(python: JobPython, others: Iterable[Place], framework: Framework) -> JobPython:
    """The Python if a job can run in it; else the reason, with one that could."""
    if python.is_old:
        oldest = ".".join(map(str, OLDEST))
        raise UsageError(
            f"{python.because}: {python.path} is Python {python.release}; jobs are observed "
            f"from Python {oldest} on"
        )
    if python.has(framework):
        return python
    other = _with_framework(python, others, framework)
    package = "jax" if framework is Framework.JAX else "tensorflow-cpu"
    how = (
        f"{other.path} has {other.packages}: --python {other.path}"
        if other is not None
        else f"{python.path} -m pip install {package}, or name another with --python"
    )
    state = none_installed(environment_of(python)) if framework is Framework.TENSORFLOW else None
    raise MissingExtra(
        f"{python.because}: {python.path} (Python {python.release}) has no {framework.value}; {how}"
        + (f". {state}" if state else "")
    )


def _with_framework(
    python: JobPython, others: Iterable[Place], framework: Framework
) -> JobPython | None:
    for place in others:
        try:
            other = describe(place)
        except UsageError:
            continue
        # A python3 on PATH is often a link into the environment that was just examined.
        if other.prefix != python.prefix and other.has(framework) and not other.is_old:
            return other
    return None


def _last_words(done: subprocess.CompletedProcess[str]) -> str:
    lines = [line.strip() for line in (done.stderr or done.stdout).splitlines() if line.strip()]
    ended = f"signal {-done.returncode}" if done.returncode < 0 else f"code {done.returncode}"
    return f"{lines[-1][:200]} ({ended})" if lines else f"it ended with {ended}"
