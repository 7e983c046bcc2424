"""The names of JAX that are not of its documented interface are there in the installed release."""

from importlib import import_module
from pathlib import Path
from typing import Any, cast

import pytest

from tpudiag.sources.job.jax import lowering
from tpudiag.sources.job.jax.jitted import Jitted, Record, StepCall
from tpudiag.sources.job.jax.step import TracedStep
from tpudiag.sources.job.points import privates, table

pytestmark = pytest.mark.slow


def test_each_private_name_is_there() -> None:
    jax: Any = import_module("jax")
    heard: list[str] = []

    def listen(event: str, duration_secs: float, **_: str | int) -> None:
        heard.append(event if duration_secs >= 0 else "")

    jax.monitoring.register_event_duration_secs_listener(listen)
    traced = jax.jit(jax.numpy.sin, donate_argnums=0).trace(1.5)
    equation = traced.jaxpr.jaxpr.eqns[0]
    assert equation.source_info.traceback.frames
    assert str(equation.source_info.name_stack) == ""
    assert jax.tree_util.tree_leaves(traced.args_info)[0].donated
    jax.jit(jax.numpy.cos)(1.5)
    assert privates.JAX_COMPILED in heard
    asked = table.JAX_ARRAY_ASKED
    (array_class,) = {holder for holder, _ in asked.places(jax)}
    assert array_class is type(jax.numpy.ones(1)) and asked.lacking(jax) == ()


def test_a_program_that_calls_python_back_is_lowered_for_a_tpu(tmp_path: Path) -> None:
    jax: Any = import_module("jax")

    def own(x: Any) -> Any:
        jax.debug.print("{}", x)
        return jax.pure_callback(abs, x, x)

    record = Record("step", None)
    jitted = Jitted(jax.jit(own), own, cast("Any", None), record)
    call = StepCall(jitted, record, ((jax.numpy.ones(3),), {}), None)
    step = lowering.lowered(TracedStep(jax, call), str(tmp_path), 3)
    assert step.error is None
    assert "stablehlo.send" in Path(step.path or "").read_text(encoding="utf-8")
