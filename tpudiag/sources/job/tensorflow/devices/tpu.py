"""Watches the job's connection to a real TPU: calls are announced, so that waits can be limited."""

import time
from functools import partial

from tpudiag.signals import TpuAttempt
from tpudiag.signals.environment import TpuPhase
from tpudiag.sources.job.points import Call, hooks, table
from tpudiag.sources.job.process.protocol import UP_TO_FIRST_STEP, Recorder


class TpuWatch:
    """Hooks the four calls at the start of every TPU job."""

    def __init__(self, recorder: Recorder) -> None:
        self._recorder = recorder
        self._asked = "local"
        self._waited_s = 0.0
        hooks.around(table.TPU_RESOLVER_MADE, partial(self._announced, "resolver"))
        hooks.around(table.TPU_CONNECTED, partial(self._announced, "connect"))
        hooks.around(table.TPU_INITIALISED, partial(self._announced, "initialize"))
        hooks.around(table.TPU_STRATEGY_MADE, partial(self._announced, "strategy"))

    def _announced(
        self, phase: TpuPhase, original: Call, /, *args: object, **kwargs: object
    ) -> object:
        """A call, announced before it starts, and its end reported."""
        if phase == "resolver":
            self._asked = str(kwargs.get("tpu", args[1] if len(args) > 1 else "") or "")
        self._recorder.put(phase=f"tpu: {phase}", tpu=self._attempt(phase, False, None))
        started = time.perf_counter()
        try:
            result = original(*args, **kwargs)
        # Including Ctrl-C, where the time waited matters.
        except BaseException as error:
            self._waited_s += time.perf_counter() - started
            text = f"{type(error).__name__}: {error}"
            self._recorder.put(tpu=self._attempt(phase, False, text))
            raise
        self._waited_s += time.perf_counter() - started
        self._recorder.put(
            phase=UP_TO_FIRST_STEP if phase == "strategy" else f"tpu: after {phase}",
            tpu=self._attempt(phase, phase == "strategy", None),
        )
        return result

    def _attempt(self, phase: TpuPhase, reached: bool, error: str | None) -> TpuAttempt:
        return TpuAttempt(
            asked=self._asked, reached=reached, phase=phase, error=error, waited_s=self._waited_s
        )
