"""What TPU101 says of a function by how often it is traced, and by who made it."""

import pytest

from tests.checks.rehearsal import HERE, found, traced
from tpudiag.model import Finding, Framework, Location
from tpudiag.signals import ArgumentChange, DatasetOp, Origin, Pipeline, Retrace

ANEW = ArgumentChange("function", "number 1", "number 2", "new function")


def finding(
    change: ArgumentChange | tuple[ArgumentChange, ...],
    times: int,
    *,
    calls: int,
    own: bool = True,
    origin: Origin = Origin.TPU,
    made_by: str = "",
) -> Finding:
    changes = change if isinstance(change, tuple) else (change,)
    again = [Retrace(call, 300.0, changes, HERE) for call in range(times)]
    where = HERE if own else None
    function = traced("one_step", calls, *again, location=where, made_by=made_by)
    framework = Framework.JAX if made_by else Framework.TENSORFLOW
    (only,) = found("TPU101", origin, framework=framework, functions=(function,))
    return only


@pytest.mark.parametrize(("times", "cost_ms"), [(1, None), (15, 150.0)])
def test_only_traces_that_go_on_are_a_cost_of_each_step(times: int, cost_ms: float | None) -> None:
    shape = ArgumentChange("x", "f[8, 4]", "f[5, 4]", "shape")
    assert finding(shape, times, calls=30).cost_ms_per_step == cost_ms


def test_the_time_of_a_rehearsals_traces_is_said_to_be_this_machines() -> None:
    shape = ArgumentChange("x", "f[8, 4]", "f[8, 5]", "shape")
    told = finding(shape, 15, calls=30, origin=Origin.REHEARSAL)
    assert told.cost_ms_per_step is None
    assert "0.3 s on this machine; on a TPU each is compiled besides" in told.message


def test_what_gets_more_dimensions_is_no_ragged_batch() -> None:
    told = finding(ArgumentChange("state", "f[5]", "f[1, 5]", "shape"), 1, calls=30)
    assert "dimensions" in told.fix


@pytest.mark.parametrize(("own", "fix"), [(True, "def one_step"), (False, "model.compile")])
def test_the_user_is_sent_to_what_the_user_wrote(own: bool, fix: str) -> None:
    assert fix in finding(ANEW, 5, calls=30, own=own).fix


@pytest.mark.parametrize(
    ("trains", "location", "calls", "lines"),
    [
        (False, None, 16, 1),  # a library's, made for each of its layers
        (True, HERE, 400, 1),  # a model's in each fold
        (True, HERE, 4, 4),  # several models', each at its own line
    ],
)
def test_functions_that_are_made_once_each_are_not_made_anew(
    trains: bool, location: Location | None, calls: int, lines: int
) -> None:
    retraces = tuple(
        Retrace(at, 10.0, (ANEW,), Location("train.py", at % lines)) for at in range(15)
    )[: 15 if lines == 1 else 3]
    function = traced("_conv_xla", calls, *retraces, location=location, trains=trains)
    assert not found("TPU101", functions=(function,))


@pytest.mark.parametrize(("times", "trains"), [(2, False), (3, False), (1, True)])
def test_an_evaluation_of_other_data_is_no_retracing(times: int, trains: bool) -> None:
    other = ArgumentChange("x", "float32[600, 8]", "float32[100, 8]", "shape")
    retraces = [Retrace(call, 10.0, (other,), HERE) for call in range(20 - times, 20)]
    function = traced("accuracy", 20, *retraces, trains=trains)
    assert bool(found("TPU101", functions=(function,))) == (times > 2 or trains)


def test_examples_of_different_length_are_mended_by_a_length_and_not_by_the_last_batch() -> None:
    batch = ArgumentChange("x", "int32[256, 75]", "int32[100, 75]", "shape")
    assert "batch(global_batch, drop_remainder=True)" in finding(batch, 15, calls=30).fix
    examples = ArgumentChange("x", "int32[256, 75]", "int32[256, 80]", "shape")
    times = ArgumentChange("t", "float32[75]", "float32[80]", "shape")
    for changes in (examples, (times, examples)):
        assert "padded_shapes=([512], [])" in finding(changes, 15, calls=30).fix


@pytest.mark.parametrize("made", [None, Location("train.py", 3)])
@pytest.mark.parametrize(
    ("before", "after", "opens"), [("i[8, 4]", "i[8, 5]", True), ("i[8, 4]", "i[5, 4]", False)]
)
def test_a_shape_is_told_where_it_is_made(
    made: Location | None, before: str, after: str, opens: bool
) -> None:
    change = ArgumentChange("x", before, after, "shape")
    function = traced("step", 20, *(Retrace(at, 300.0, (change,), HERE, made) for at in range(15)))
    line = Location("train.py", 2)
    batch = DatasetOp(kind="PaddedBatch", batch_size=8, gives_unknown=True, location=line)
    read = Pipeline(ops=(batch,), elements=(), trains=True)
    (told,) = found("TPU101", Origin.TPU, functions=(function,), pipelines=(read,))
    assert told.location == (made or (line if opens else HERE))
    assert ("drop_remainder" in told.fix) is not opens


def test_the_decorator_that_was_written_is_the_one_that_is_named() -> None:
    fix = finding(ANEW, 15, calls=16, made_by="flax.nnx.jit").fix
    assert "one_step = flax.nnx.jit(one_step)" in fix and "jax.jit" not in fix


def test_what_a_librarys_function_was_given_is_told_without_the_librarys_name_for_it() -> None:
    epoch = ArgumentChange("static[2][0][21]", "Python int 1", "Python int 2", "python value")
    told = finding(epoch, 15, calls=16, own=False, made_by="equinox.filter_jit")
    assert "an argument changed (python value): Python int 1 ->" in told.message
    assert "one_step(..., jnp.asarray(value))  # of equinox.filter_jit" in told.fix


def test_one_that_is_made_anew_and_gets_another_shape_has_both_causes() -> None:
    shape = ArgumentChange("x", "f[8, 4]", "f[5, 4]", "shape")
    again = [Retrace(call, 300.0, (change,), HERE) for call in range(5) for change in (ANEW, shape)]
    told = found("TPU101", functions=(traced("one_step", 30, *again, location=HERE),))
    causes = ("function changed", "x changed")
    for each, cause in zip(told, causes, strict=True):
        assert f"in 30 calls, 5 of them for this: {cause}" in each.message


@pytest.mark.parametrize(
    ("before", "after", "dtype"),
    [("int32 (weak)[]", "int32[]", "int32"), ("bfloat16[8]", "Python float 1.0", "bfloat16")],
)
def test_what_is_cast_is_cast_to_what_it_changed_to(before: str, after: str, dtype: str) -> None:
    change = ArgumentChange("step", before, after, "dtype")
    told = finding(change, 1, calls=9, made_by="jax.jit")
    assert told.fix.endswith(f"step = jnp.asarray(step, jnp.{dtype})")
