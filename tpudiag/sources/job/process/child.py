"""The child process: runs one program under observation."""

import atexit
import builtins
import contextlib
import gc
import importlib
import importlib.abc
import io
import os
import runpy
import signal
import sys
import threading
import zipfile
from collections.abc import Callable, Generator, Sequence
from importlib.machinery import ModuleSpec, SourceFileLoader
from pathlib import Path
from types import ModuleType
from typing import Any

from tpudiag.script_run import InterventionKind
from tpudiag.signals import CoverageEnd, JobEnd
from tpudiag.sources.job.jax.observer import JaxObserver
from tpudiag.sources.job.points import (
    barrier,
    hidden_modules,
    interventions,
    privates,
    user_lines,
)
from tpudiag.sources.job.points.steps import StopObservation
from tpudiag.sources.job.process import cells, changed_sources, job_error
from tpudiag.sources.job.process.isolation import system_calls
from tpudiag.sources.job.process.protocol import JobSpec, Recorder, decoded_spec
from tpudiag.sources.job.tensorflow.devices import same_numbers, tpu_stubs
from tpudiag.sources.job.tensorflow.observer import Observer

_EXPORTED = (b"get_ipython()", b"# In[")
"""Identify a script that was exported from a notebook."""
_COVERAGE: dict[str, CoverageEnd] = {"stopped": "budget", "finished": "whole"}
"""Else a crash."""


class _ImportWatch(importlib.abc.MetaPathFinder):
    """Announces imports of TensorFlow, JAX and Keras, before and after; finds nothing itself."""

    def __init__(self, observer: Observer, of_jax: JaxObserver) -> None:
        self._before = {
            "tensorflow": observer.importing_tensorflow,
            "jax": of_jax.importing,
        }
        self._after: dict[str, Callable[[ModuleType], None]] = {
            "tensorflow": observer.imported_tensorflow,
            "jax": of_jax.imported,
            "IPython.core.getipython": cells.asked_of_ipython,
            "keras": lambda module: _both(observer, of_jax, module),
            "tf_keras": lambda module: observer.imported_keras(module, "tf_keras"),
        }
        self._after.update(of_jax.by_module() | observer.by_module())

    def find_spec(
        self, name: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """The other finders' spec, with its loader wrapped."""
        twin = _twin(name)
        if name not in self._after and twin is None:
            return None
        # The spec of the original finder (editable installs, zip files, our stand-in modules): its
        # loader is wrapped, and loading stays the same.
        for finder in sys.meta_path:
            spec = None if finder is self else finder.find_spec(name, path, target)
            if spec is not None and spec.loader is not None:
                if hidden_modules.hides(name, spec.origin):
                    return spec  # a file of the job's own: no library to observe
                self._follow(spec.loader, name, twin)
                return spec
        return None

    def _follow(self, loader: Any, name: str, twin: ModuleType | None = None) -> None:
        """Announce when this loader executes its module; looking up its spec is no import."""
        execute: Callable[[ModuleType], None] = loader.exec_module

        def exec_module(module: ModuleType) -> None:
            # Once: importlib.reload executes a module again, and hooks would be stacked.
            after = self._after.pop(name, None)
            if after is not None and name in self._before:
                self._before[name]()
            with _no_sweeps():
                execute(module)
            if twin is not None:
                # Executed a second time it shares the names: the hooks were put on the first one.
                names = {n: value for n, value in vars(twin).items() if not n.startswith("_")}
                vars(module).update(names)
            if after is not None:
                barrier.attempt(f"import {name}", after, module)

        loader.exec_module = exec_module


@contextlib.contextmanager
def _no_sweeps() -> Generator[None]:
    """No search for garbage while a library is loaded, and none in it later: it stays.

    Both took a sixth of a rehearsal's CPU time.
    """
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.freeze()
            gc.enable()


def _both(observer: Observer, of_jax: JaxObserver, keras: ModuleType) -> None:
    """Keras, which trains with either framework, was imported."""
    observer.imported_keras(keras, "keras")
    of_jax.imported_keras(keras)


def _twin(name: str) -> ModuleType | None:
    """The module of TensorFlow's API that an import is about to execute a second time.

    `from tensorflow.io import ...` executes tf.io's file once more, and replaces tf.io by the new
    module, without any hook or replacement.
    """
    if not name.startswith("tensorflow.") or name.startswith("tensorflow.keras"):
        return None
    return sys.modules.get(privates.INTERFACE + name.partition(".")[2])


def run(
    program: str,
    arguments: Sequence[str],
    is_module: bool = False,
    tried: cells.Tried = cells.plain,
) -> None:
    """Run a script or a module as __main__, or call `module:function`, with its arguments."""
    module, colon, function = program.rpartition(":")
    sys.argv = [program, *arguments]
    if is_module:
        _look_first_in(Path.cwd())
        user_lines.own_package(program)
        runpy.run_module(program, run_name="__main__", alter_sys=True)
    # A file's name may hold a colon.
    elif colon and not Path(program).exists():
        _look_first_in(Path.cwd())
        target: object = importlib.import_module(module)
        for name in function.split("."):
            target = getattr(target, name)
        target()  # type: ignore[operator]
    else:
        _look_first_in(Path(program).resolve().parent)
        _run_file(program, tried)


def _run_file(program: str, tried: cells.Tried) -> None:
    """Run a script as Python does: by its absolute path, with unchanged arguments.

    runpy keeps a relative `__file__`, which breaks a job that changes its folder.
    """
    file = os.path.abspath(program)  # noqa: PTH100 (a link's own path, as Python's)
    if not Path(file).is_file() or file.endswith(".pyc") or zipfile.is_zipfile(file):
        runpy.run_path(program, run_name="__main__")  # a non-source contains a __main__
        return
    # Pickle, multiprocessing and Keras' custom objects look up classes in sys.modules['__main__'],
    # which must be the job's module.
    main = ModuleType("__main__")
    main.__dict__.update(__file__=file, __builtins__=builtins, __cached__=None)
    main.__loader__ = SourceFileLoader("__main__", file)
    sys.modules["__main__"] = main
    text = changed_sources.source(file)
    if text is None:
        with io.open_code(file) as source:
            text = source.read()
    if any(mark in text for mark in _EXPORTED):
        cells.offer_shell(main.__dict__)
    source_or_tree: Any = tried(text, file, main.__dict__, 0)
    exec(compile(source_or_tree, file, "exec", dont_inherit=True), main.__dict__)


def _look_first_in(folder: Path) -> None:
    """Put the folder first on sys.path, as Python does unless disabled (-P)."""
    if not getattr(sys.flags, "safe_path", False):
        sys.path.insert(0, str(folder))


def observe(spec: JobSpec, recorder: Recorder) -> JobEnd:
    """Run the program to its end, or until enough was observed."""
    changed_sources.install(spec.changed_sources)
    if spec.seed >= 0:
        same_numbers.seed_python(spec.seed)
    interventions.begin(spec.without)
    job_error.listen(recorder)
    observer = Observer(spec, recorder)
    of_jax = JaxObserver(spec, recorder, observer)
    sys.meta_path.insert(0, _ImportWatch(observer, of_jax))
    end, error = JobEnd(how="finished"), None
    try:
        if spec.cells:
            cells.run(spec, observer.tried)
        else:
            run(spec.program, spec.arguments, spec.is_module, observer.tried)
    except BaseException as raised:
        # A job that is being stopped may end by an exception from the interrupted call.
        over = observer.time_over or of_jax.time_over
        end, error = JobEnd(how="stopped") if over else _end(raised), raised
    refusal = barrier.attempt("what was held back", observer.refusal_at_end, error)
    # Our exception stopped the job: whatever its `finally` and `except` blocks did then, to files
    # or by another exception, is our doing.
    if observer.stopped or of_jax.stopped:
        return JobEnd(how="stopped")  # anything after the stop is irrelevant
    if refusal is not None:
        recorder.put(refusal=refusal)
    recorder.put(came_to=end, frameworks=[n for n in ("jax", "torch") if n in sys.modules])
    if error is not None:
        if barrier.is_after_ours(error):
            interventions.note(InterventionKind.DEFECT, interventions.ANYWHERE)
        suspects = barrier.attempt("provenance", interventions.to_blame, error)
        recorder.put(interventions=interventions.made() if suspects is None else suspects)
    how = _COVERAGE.get(end.how, "crash")
    with contextlib.suppress(StopObservation):  # time may run out at this very moment
        barrier.attempt("reading what was seen", observer.ended, error, how)
        barrier.attempt("reading what JAX did", of_jax.ended, error, how)
    recorder.put(hook_defects=barrier.defects())
    return end


def _end(error: BaseException) -> JobEnd:
    if isinstance(error, StopObservation):
        return JobEnd(how="stopped")
    if isinstance(error, SystemExit):
        if error.code in (None, 0):
            return JobEnd(how="finished")
        # As in Python: sys.exit('text') prints the text and exits with 1.
        code = error.code if isinstance(error.code, int) else 1
        return JobEnd(
            how="exit", error=None if code is error.code else str(error.code), exit_code=code
        )
    if isinstance(error, KeyboardInterrupt):
        return JobEnd(how="interrupted")
    end = job_error.job_end(error)
    if isinstance(error, tpu_stubs.NotRehearsable):
        return JobEnd(how="unsupported", error=str(error), location=end.location)
    sys.stderr.write(end.crash.traceback if end.crash is not None else "")
    return end


def main() -> None:
    """Observe the parent's job: argv[1] is the JSON, argv[2] the pipe."""
    spec, facts = decoded_spec(sys.argv[1]), int(sys.argv[2])
    # A parent killed by SIGKILL cannot end the job itself; without prctl (macOS) the job stays.
    with contextlib.suppress(OSError, AttributeError):
        system_calls.prctl(system_calls.PR_SET_PDEATHSIG, signal.SIGKILL)
    for descriptor in (facts, *([spec.requests] if spec.requests >= 0 else [])):
        os.set_inheritable(descriptor, False)  # not for the job's children
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(write_through=True)  # a crash loses no line
    recorder = Recorder(facts)
    recorder.phase("starting")
    end = observe(spec, recorder)
    recorder.put(end=end)
    sys.stdout.flush()
    sys.stderr.flush()
    # Python joins all other threads before atexit handlers, and a job's server never ends.
    daemonic = all(thread.daemon for thread in threading.enumerate()[1:])
    if end.how != "stopped" and daemonic:
        atexit._run_exitfuncs()  # pyright: ignore[reportPrivateUsage]
    # AutoGraph's generated files, as it does itself at Python's normal exit.
    for name, module in list(sys.modules.items()):
        if name.startswith("__autograph_generated_file"):
            with contextlib.suppress(OSError, TypeError):
                Path(str(module.__file__)).unlink()
    os._exit(0)  # skips destructors: iterators may block them for a minute


if __name__ == "__main__":
    main()
