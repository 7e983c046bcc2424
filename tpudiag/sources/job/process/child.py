"""The child process: runs one program under observation."""

from __future__ import annotations

import atexit
import contextlib
import ctypes
import importlib
import importlib.abc
import os
import re
import runpy
import signal
import sys
import threading
import traceback
from collections.abc import Callable, Sequence
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType

import msgspec

from tpudiag.signals import JobEnd
from tpudiag.sources.job.process import cells
from tpudiag.sources.job.process.protocol import JobSpec, Recorder
from tpudiag.sources.job.tensorflow import user_lines
from tpudiag.sources.job.tensorflow.observer import Observer
from tpudiag.sources.job.tensorflow.steps import StopObservation

PR_SET_PDEATHSIG = 1

_OWN_FRAME = re.compile(
    rf'^ *File "{re.escape(str(Path(__file__).parent.parent))}[^"]*",.*\n.*\n', re.M
)
"""A frame of these hooks in AutoGraph's account of an error, with the line of code below it."""


class _ImportWatch(importlib.abc.MetaPathFinder):
    """Announces the import of TensorFlow and Keras, before and after; finds nothing itself."""

    def __init__(self, observer: Observer) -> None:
        self._observer = observer
        self._after: dict[str, Callable[[ModuleType], None]] = {
            "tensorflow": observer.imported_tensorflow,
            "keras": lambda module: observer.imported_keras(module, "keras"),
            "tf_keras": lambda module: observer.imported_keras(module, "tf_keras"),
        }
        if observer.fake_data is not None:
            self._after["tensorflow_datasets"] = observer.fake_data.watch_tfds
            self._after["tensorflow_hub"] = observer.fake_data.watch_hub

    def find_spec(
        self, name: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """The spec that the other finders give, its loader followed."""
        if name not in self._after:
            return None
        for finder in sys.meta_path:
            spec = None if finder is self else finder.find_spec(name, path, target)
            if spec is not None and spec.loader is not None:
                self._follow(spec.loader, name)
                return spec
        return None

    def _follow(self, loader: object, name: str) -> None:
        """Announce when this loader executes its module; being asked for its spec is no import."""
        execute: Callable[[ModuleType], None] = loader.exec_module  # type: ignore[attr-defined]

        def exec_module(module: ModuleType) -> None:
            after = self._after.pop(name, None)
            if name == "tensorflow":
                self._observer.importing_tensorflow()
            execute(module)
            if after is not None:
                after(module)

        loader.exec_module = exec_module  # type: ignore[attr-defined]


def run(program: str, arguments: Sequence[str]) -> None:
    """Run a script as __main__, or call `module:function`, with the user's arguments."""
    module, colon, function = program.rpartition(":")
    if colon and not Path(program).exists():
        sys.argv = [program, *arguments]
        sys.path.insert(0, str(Path.cwd()))
        target: object = importlib.import_module(module)
        for name in function.split("."):
            target = getattr(target, name)
        target()  # type: ignore[operator]
    else:
        sys.argv = [program, *arguments]
        sys.path.insert(0, str(Path(program).resolve().parent))
        runpy.run_path(program, run_name="__main__")


def observe(spec: JobSpec, recorder: Recorder) -> JobEnd:
    """Run the program to its end, or until enough was seen."""
    observer = Observer(spec, recorder)
    sys.meta_path.insert(0, _ImportWatch(observer))
    end = JobEnd("finished")
    try:
        if spec.cells:
            cells.run(spec)
        else:
            run(spec.program, spec.arguments)
    except StopObservation:
        return JobEnd("stopped")
    except SystemExit as exit_:
        if exit_.code not in (None, 0):
            code = exit_.code if isinstance(exit_.code, int) else 1
            end = JobEnd("exit", None if code is exit_.code else str(exit_.code), exit_code=code)
    except KeyboardInterrupt:
        end = JobEnd("interrupted")
    except BaseException as error:
        traceback.print_exc()
        frames = traceback.extract_tb(error.__traceback__)
        end = JobEnd("exception", _text(error), user_lines.of_frames(frames))
    if observer.stopped:
        return JobEnd("stopped")  # what the job did after it was stopped is of no interest
    observer.finish()
    return end


def _text(error: BaseException) -> str:
    """An exception as one text, its causes included, bounded."""
    said = f"{type(error).__name__}: {error}"
    cause = error.__cause__
    if cause is not None:
        said += f"\ncaused by {type(cause).__name__}: {cause}"
    said = _OWN_FRAME.sub("", said)
    return said if len(said) <= 20_000 else said[:10_000] + "\n...\n" + said[-10_000:]


def die_with_parent() -> None:
    """Ask Linux to end this process when the parent is gone, however that went."""
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


def main() -> None:
    """Observe the job that the parent specified: argv[1] is the JSON, argv[2] the pipe."""
    spec = msgspec.json.decode(sys.argv[1].encode(), type=JobSpec)
    die_with_parent()
    recorder = Recorder(int(sys.argv[2]))
    recorder.phase("starting")
    end = observe(spec, recorder)
    recorder.put(end=end)
    sys.stdout.flush()
    sys.stderr.flush()
    daemonic = all(thread.daemon for thread in threading.enumerate()[1:])
    if end.how != "stopped" and daemonic:
        atexit._run_exitfuncs()  # pyright: ignore[reportPrivateUsage]
    os._exit(0)  # not by way of destructors: iterators may hold them for a minute


if __name__ == "__main__":
    main()
