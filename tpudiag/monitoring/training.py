"""The API for training scripts: `tpudiag.ThroughputCallback()` for Keras, `tpudiag.track()`."""

import math
import os
import sys
import time
from collections.abc import Generator, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from pathlib import Path
from typing import Any, Generic, TypeVar, cast

from tpudiag.monitoring import crashes, tensorflow_events
from tpudiag.monitoring.batch_sizes import BatchSizes
from tpudiag.monitoring.recorder import Recorder

T = TypeVar("T")
DEFAULT_PATH = Path("tpudiag-logs", "throughput.sqlite")
_loops: dict[tuple[str, int], int] = {}


class Tracker(Generic[T]):
    """Iterates over `steps` and records each round of the loop as a training step.

    Waiting for input is measured where `steps` gives the data; where it is a range, put
    `with tracker.input():` around `next(iterator)`.
    """

    def __init__(
        self,
        steps: Iterable[T],
        recorder: Recorder,
        steps_per_round: int,
        global_batch: int | None = None,
    ) -> None:
        self._steps = steps
        self.recorder = recorder
        """It knows how many steps were stored and lost."""
        self._batches = BatchSizes(global_batch)
        self._steps_per_round = steps_per_round
        self._wait_ns = -1 if isinstance(steps, range) else 0

    def __iter__(self) -> Iterator[T]:
        record, count, now = self.recorder.step, self._steps_per_round, time.perf_counter_ns
        gives_data = self._wait_ns == 0
        self.recorder.reopen()  # a second loop over it goes on with the run
        iterator = iter(self._steps)
        try:
            while True:
                began = now()
                try:
                    item = next(iterator)
                except StopIteration:
                    return
                if gives_data:
                    self._wait_ns += now() - began
                yield item
                examples = self._batches.examples(item) if gives_data else -1
                record(count, self._wait_ns, examples * count if examples > 0 else -1)
                self._wait_ns = min(self._wait_ns, 0)
        except GeneratorExit:
            crashes.left_by_exit(self.recorder)
            raise
        finally:
            self.recorder.close()

    @contextmanager
    def input(self) -> Generator[None]:
        """Time in the block counts as waiting for input."""
        began = time.perf_counter_ns()
        try:
            yield
        finally:
            self._wait_ns = max(self._wait_ns, 0) + time.perf_counter_ns() - began

    def loss(self, value: object) -> None:
        """Report the loss, where you have it as a number anyway: NaN and the like are detected.

        Tensors are ignored: copying one from the device is your decision.
        """
        self.recorder.loss(value)

    def pause(self, kind: str = "checkpoint") -> AbstractContextManager[None]:
        """Time in the block is a pause (checkpoint, evaluation), not a slow step."""
        return self.recorder.pause(kind)


def track(
    steps: Iterable[T],
    *,
    global_batch_size: int | None = None,
    steps_per_round: int = 1,
    path: str | Path = DEFAULT_PATH,
    name: str | None = None,
    tpu: str | None = None,
) -> Tracker[T]:
    """Iterate over `steps` in a custom loop: `for batch in tpudiag.track(dataset, ...):`.

    Every round of the loop counts as `steps_per_round` steps. `tpu` (v5e-8) says how much HBM
    there is; on a TPU VM it is known. `tpudiag watch PATH` follows the recording.
    """
    _check_count("global_batch_size", global_batch_size)
    _check_count("steps_per_round", steps_per_round)
    limit = hbm_limit_bytes(tpu)
    recorder = _recorder(path, name, global_batch_size, hbm_limit_bytes=limit, loop=_loop(1))
    return Tracker(steps, recorder, steps_per_round, global_batch_size)


class ThroughputCallback:
    """A Keras callback that records throughput: Keras 3, tf-keras, and Keras 2 in TensorFlow.

    It derives from no Keras class, since a job may use any of three, and imports none.
    """

    async_safe = True
    _supports_tf_logs = True  # without it tf-keras fetches the logs from the device in each step

    def __init__(
        self,
        global_batch_size: int | None = None,
        path: str | Path = DEFAULT_PATH,
        name: str | None = None,
        tpu: str | None = None,
    ) -> None:
        _check_count("global_batch_size", global_batch_size)
        self._global_batch, self._path, self._name = global_batch_size, path, name
        self._hbm_limit_bytes = hbm_limit_bytes(tpu)
        self.recorder: Recorder | None = None
        self.model: Any = None
        self.params: Any = None
        self._last_batch = -1
        self._quiet: tuple[str, int] | None = None
        """The current pause: its kind and its start."""

    def set_params(self, params: Any) -> None:
        """Keras passes the run's settings."""
        self.params = params

    def set_model(self, model: Any) -> None:
        """Keras passes the model."""
        self.model = model
        with suppress(Exception):
            tensorflow_events.follow_model(model)

    def on_train_begin(self, logs: Any = None) -> None:  # noqa: ARG002
        """Start a recording."""
        self._quiet = None
        parameters: int | None = None
        with suppress(Exception):  # a model that is not built has none yet
            weights = self.model.trainable_weights
            parameters = sum(math.prod(weight.shape) for weight in weights) or None
        self.recorder = _recorder(
            self._path, self._name, self._global_batch,
            hbm_limit_bytes=self._hbm_limit_bytes, loop=_loop(1), parameters=parameters,
        )  # fmt: skip

    def on_train_end(self, logs: Any = None) -> None:  # noqa: ARG002
        """End it."""
        if self.recorder is not None:
            self._end_quiet()
            self.recorder.close()

    def on_epoch_begin(self, epoch: int, logs: Any = None) -> None:  # noqa: ARG002
        """Batches count from 0 again; the time between two epochs is a pause."""
        self._end_quiet()
        self._last_batch = -1

    def on_epoch_end(self, epoch: int, logs: Any = None) -> None:  # noqa: ARG002
        """Checkpoints and logs are written about now."""
        self._loss(logs)
        self._begin_quiet("epoch end")

    def on_test_begin(self, logs: Any = None) -> None:  # noqa: ARG002
        """An evaluation within the training."""
        self._begin_quiet("evaluation")

    def on_test_end(self, logs: Any = None) -> None:  # noqa: ARG002
        """Training continues, unless it was between two epochs."""
        if self._quiet is not None and self._quiet[0] == "evaluation":
            self._end_quiet()

    def on_train_batch_end(self, batch: int, logs: Any = None) -> None:
        """Steps ended: one, or steps_per_execution; may come from another thread."""
        # With steps_per_execution Keras calls once per several batches, with the last one's number.
        steps, self._last_batch = batch - self._last_batch, max(batch, self._last_batch)
        if self.recorder is not None and steps > 0:
            self.recorder.step(steps)
            self._loss(logs)

    def pause(self, kind: str = "checkpoint") -> AbstractContextManager[None]:
        """Your callback's time in the block is a pause, not a slow step."""
        if self.recorder is None:
            raise RuntimeError("ThroughputCallback.pause() is for the time between two steps")
        return self.recorder.pause(kind)

    def _loss(self, logs: Any) -> None:
        """Keras' loss, where it is already a number."""
        with suppress(Exception):
            # Not by get: some Keras' logs fetch values from the device on access.
            if self.recorder is not None and type(logs) is dict:
                self.recorder.loss(cast("dict[str, Any]", logs).get("loss"))

    def _begin_quiet(self, kind: str) -> None:
        if self.recorder is not None and self._quiet is None:
            self._quiet = kind, self.recorder.begin_pause(kind)

    def _end_quiet(self) -> None:
        if self.recorder is not None and self._quiet is not None:
            self.recorder.end_pause(*self._quiet)
            self._quiet = None

    def _implements_train_batch_hooks(self) -> bool:
        """For tf-keras, which skips callbacks without batch hooks."""
        return True

    def _nothing(self, *_: Any, **__: Any) -> None:
        """For Keras' hooks without meaning for throughput."""

    def _no(self) -> bool:
        return False

    on_train_batch_begin = on_batch_begin = on_batch_end = _nothing
    on_test_batch_begin = on_test_batch_end = _nothing
    on_predict_begin = on_predict_end = on_predict_batch_begin = on_predict_batch_end = _nothing
    _implements_test_batch_hooks = _implements_predict_batch_hooks = _no


def _check_count(name: str, value: int | None) -> None:
    """Refuse an invalid count, blaming the caller's line."""
    if value is not None and value < 1:
        raise ValueError(f"{name} is {value}: must be 1 or more")


def hbm_limit_bytes(tpu: str | None) -> int | None:
    """The HBM available to programs on one device; None where the TPU is unknown.

    Raises UsageError for an invalid `tpu`.
    """
    named = tpu or os.environ.get("TPU_ACCELERATOR_TYPE")
    if not named:
        return None
    from tpudiag.errors import UsageError
    from tpudiag.hardware import target

    try:
        return target(named).hardware.usable_hbm_bytes
    except UsageError:
        if tpu is not None:
            raise
        return None


def _loop(above: int) -> int:
    """The index of the loop that begins here, by the user's line; the first is 0."""
    try:
        # The line identifies a script's loop: a restarted process begins the same ones in order.
        frame = sys._getframe(above + 1)  # pyright: ignore[reportPrivateUsage]
        while frame.f_back and crashes.installed_code(frame.f_code.co_filename):
            frame = frame.f_back
        line = (frame.f_code.co_filename, frame.f_lineno)
    except Exception:
        return 0
    return _loops.setdefault(line, len(_loops))


def _recorder(
    path: str | Path, name: str | None, global_batch: int | None, **of_run: int | None
) -> Recorder:
    def store() -> Any:
        from tpudiag.monitoring.store import Store

        return Store(Path(path))

    named = name or Path(sys.argv[0] or "python").name
    more: dict[str, Any] = dict(of_run)
    return Recorder(store, named, global_batch, memory=_hbm_in_use, **more)


def _hbm_in_use() -> int | None:
    """The most HBM in use on one local TPU device, None where there is none.

    Follows the documentation of TensorFlow and JAX; not run on a TPU.
    """
    tf: Any = sys.modules.get("tensorflow")
    jax: Any = sys.modules.get("jax")
    if jax is not None and jax.default_backend() == "tpu":
        all_statistics: list[Any] = [device.memory_stats() for device in jax.local_devices()]
        return max((int(each["bytes_in_use"]) for each in all_statistics if each), default=None)
    if tf is None:
        return None
    devices = [device.name for device in tf.config.list_logical_devices("TPU")]
    short = [":".join(name.split(":")[-2:]) for name in devices]
    used = [int(tf.config.experimental.get_memory_info(name)["current"]) for name in short]
    return max(used, default=None)
