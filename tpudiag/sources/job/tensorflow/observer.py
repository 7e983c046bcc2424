"""Follows a job from its imports on: the observation begins with TensorFlow's import."""

import builtins
import contextlib
import os
import time
from collections.abc import Callable
from functools import partial
from typing import Any

from tpudiag.signals import CoverageEnd, Refusal, SendKind
from tpudiag.sources.job.held_back.install import HeldBack
from tpudiag.sources.job.points import Call, Kwargs, Library, Watches, hooks, table, user_lines
from tpudiag.sources.job.process.protocol import UP_TO_FIRST_STEP, JobSpec, Recorder
from tpudiag.sources.job.tensorflow import job_facts
from tpudiag.sources.job.tensorflow.devices import tpu_stubs
from tpudiag.sources.job.tensorflow.fake_data.install import FakeData
from tpudiag.sources.job.tensorflow.fake_data.modules import OF_SESSIONS, HostedModules
from tpudiag.sources.job.tensorflow.observation import Observation
from tpudiag.sources.job.tensorflow.shortening import loop_rewriting
from tpudiag.sources.job.tensorflow.shortening.script_loops import ScriptLoops
from tpudiag.sources.job.tensorflow.watches import keras_backend


class Observer:
    """Receives the job's imports and its end."""

    def __init__(self, spec: JobSpec, recorder: Recorder) -> None:
        self._spec, self._recorder = spec, recorder
        self._import_started = time.perf_counter()
        self._early_keras: list[tuple[Library, str]] = []
        self.observation: Observation | None = None
        """None until TensorFlow was imported."""
        self.held_back: HeldBack | None = None
        """None for a real run, whose writes and sends are not held back."""
        if spec.rehearse:
            self.held_back = HeldBack(spec, recorder)
        self._loops = ScriptLoops()
        if spec.rehearse and spec.rest_s > 0:
            hooks.around(table.MODULE_COMPILED, self._module)
        if self.held_back is not None and not spec.fake_data:
            HostedModules(partial(self.held_back.ledger.note, SendKind.REQUEST), OF_SESSIONS)
        self.fake_data: FakeData | None = None
        if spec.fake_data:
            folder = os.path.join(spec.log_dir, "fake-data")  # noqa: PTH118
            held = self.held_back
            self.fake_data = FakeData(
                folder, recorder.put, held.layer.holds if held else lambda _: False
            )

    def tried(
        self, text: str | bytes, file: str, space: Kwargs, flags: int = 0, imported: bool = False
    ) -> Any:
        """A script, cell or module as it is run: loops may end early, statements may fail."""
        made: Any = text
        # What is nested too deep to be rewritten runs as it is.
        with contextlib.suppress(RecursionError):
            if self._spec.rehearse:
                made = loop_rewriting.rewritten(self._loops, text, file, space, flags)
            if self.fake_data:
                made = self.fake_data.statements.tried(made, file, space, flags, imported)
        return made

    def _module(self, original: Call, loader: Any, name: str) -> object:
        """A module is imported, or run as the program: one of the job's own is as its script."""
        file = str(loader.get_filename(name))
        if user_lines.is_user_file(file):
            # What is nested too deep, or no Python of this release, is for the loader.
            with contextlib.suppress(RecursionError, SyntaxError, ValueError, OSError):
                imported = name.removesuffix(".__main__") != self._spec.program
                text, space = loader.get_data(file), builtins.__dict__
                made = self.tried(text, file, space, imported=imported)
                return compile(made, file, "exec", dont_inherit=True)
        return original(loader, name)

    def by_module(self) -> Watches:
        """The hooks by the module whose import triggers them, besides TensorFlow and Keras."""
        after = self.held_back.by_module() if self.held_back is not None else {}
        if self._spec.rehearse:
            after["cloud_tpu_client"] = tpu_stubs.watch_client
        # Synthetic data comes above redirections, which know what the job wrote itself.
        for name, stand_in in (self.fake_data.by_module() if self.fake_data else {}).items():
            known = after.get(name)
            after[name] = partial(_both, known, stand_in) if known is not None else stand_in
        return after

    @property
    def stopped(self) -> bool:
        """Whether enough was observed and the job was stopped."""
        return self.observation is not None and self.observation.stopped

    @property
    def time_over(self) -> bool:
        """Whether the job was stopped because its time was over."""
        whole = self.observation.watches.whole if self.observation is not None else None
        return whole is not None and whole.deadline.spent

    def importing_tensorflow(self) -> None:
        """TensorFlow is about to be imported; a process that dies now died of that."""
        self._import_started = time.perf_counter()
        self._recorder.phase("importing TensorFlow")

    def imported_tensorflow(self, tf: Library) -> None:
        """TensorFlow was imported and has not run anything yet: install everything."""
        took_s = time.perf_counter() - self._import_started
        imported = partial(job_facts.tensorflow_import, tf, took_s)
        self._recorder.put(tensorflow=imported())
        user_lines.follow_autograph()
        if self.held_back is not None:
            self.held_back.watch_tensorflow(tf)
        if self.fake_data is not None:
            self.fake_data.watch_tensorflow(tf)
        self.observation = Observation(tf, self._spec, self._recorder, self.script_path, imported)
        if self.observation.watches.whole is not None:
            self.observation.watches.whole.follow(self._loops)
        fake_data = self.fake_data
        if fake_data is not None:
            self.observation.has_stand_ins = lambda: fake_data.used
            fake_data.statements.trained.append(self.observation.trained)
        for keras, package in self._early_keras:
            self._watch_keras(self.observation, keras, package)
        self._recorder.phase(UP_TO_FIRST_STEP)

    def imported_keras(self, keras: Library, package: str) -> None:
        """A Keras is there; TensorFlow imports Keras 3 itself before it is complete."""
        hooks.quietly(keras_backend.watch, keras, self._recorder)
        if self._spec.rehearse:
            drawn = partial(keras_backend.drawn, self._recorder)
            hooks.quietly(hooks.around, table.MODEL_DRAWN, drawn, keras)
        of_jax = hooks.quietly(keras_backend.name_of, keras) == "jax"
        if of_jax and self.fake_data is not None:
            self.fake_data.watch_keras(keras, of_jax)
        if of_jax:
            return  # its steps are jax.jit's
        if self.observation is None:
            self._early_keras.append((keras, package))
        else:
            self._watch_keras(self.observation, keras, package)

    def refusal_at_end(self, error: BaseException | None) -> Refusal | None:
        """Report everything held back; returns the part of it that ended the job, if any."""
        return self.held_back.ended(error) if self.held_back is not None else None

    def trained_elsewhere(self) -> None:
        """A step of another framework was dispatched: its input was read last."""
        if self.observation is not None:
            self.observation.watches.pipelines.feeds.called(True)

    def ended(self, error: BaseException | None, end: CoverageEnd) -> None:
        """The job ended in any way; send everything known."""
        if self.observation is not None:
            self.observation.ended(error, end)

    def _watch_keras(self, observation: Observation, keras: Library, package: str) -> None:
        if self.fake_data is not None:
            self.fake_data.watch_keras(keras)
        observation.watches.watch_keras(keras, package, self._spec.rehearse)

    def script_path(self, path: object) -> object:
        """The script's own path of a redirected file."""
        return self.held_back.layer.original(path) if self.held_back is not None else path


def _both(
    first: Callable[[Library], None], second: Callable[[Library], None], module: Library
) -> None:
    first(module)
    second(module)
