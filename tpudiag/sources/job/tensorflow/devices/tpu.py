"""Watches the job's connection to a real TPU: calls are announced, so that waits can be limited."""

import time
from dataclasses import replace
from functools import partial

from tpudiag.signals import TpuAttempt
from tpudiag.signals.environment import TpuPhase
from tpudiag.sources.job.points import Call, hooks, table
from tpudiag.sources.job.process.protocol import UP_TO_FIRST_STEP, Recorder


def announce(recorder: Recorder) -> None:
    """Hook the four calls at the start of a TPU job: each is announced, and its end reported."""
    seen = TpuAttempt(asked="local", reached=False)

    def announced(phase: TpuPhase, original: Call, /, *args: object, **kwargs: object) -> object:
        nonlocal seen
        if phase == "resolver":
            asked = str(kwargs.get("tpu", args[1] if len(args) > 1 else "") or "")
            seen = replace(seen, asked=asked)
        seen = replace(seen, phase=phase, reached=False, error=None)
        recorder.put(phase=f"tpu: {phase}", tpu=seen)
        started = time.perf_counter()
        try:
            result = original(*args, **kwargs)
        # Including Ctrl-C, where the time waited matters.
        except BaseException as error:
            waited_s = seen.waited_s + time.perf_counter() - started
            seen = replace(seen, error=f"{type(error).__name__}: {error}", waited_s=waited_s)
            recorder.put(tpu=seen)
            raise
        waited_s = seen.waited_s + time.perf_counter() - started
        seen = replace(seen, reached=phase == "strategy", waited_s=waited_s)
        after = UP_TO_FIRST_STEP if phase == "strategy" else f"tpu: after {phase}"
        recorder.put(phase=after, tpu=seen)
        return result

    hooks.around(table.TPU_RESOLVER_MADE, partial(announced, "resolver"))
    hooks.around(table.TPU_CONNECTED, partial(announced, "connect"))
    hooks.around(table.TPU_INITIALISED, partial(announced, "initialize"))
    hooks.around(table.TPU_STRATEGY_MADE, partial(announced, "strategy"))
