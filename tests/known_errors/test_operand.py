"""Which part of the line that failed an error speaks of."""

import pytest

from tpudiag.known_errors.operand import operand_of


@pytest.mark.parametrize(
    ("source", "error", "cause", "fix"),
    [
        (
            "h, w, _ = image.get_shape().as_list()",
            "ValueError: not enough values to unpack (expected 3, got 2)",
            "`image` is of rank 2, and rank 3 is wanted",
            "image = tf.ensure_shape(image, [None, None, None])",
        ),
        (
            "b, t = x.shape",
            "ValueError: too many values to unpack (expected 2)",
            "`x` is of rank more than 2",
            "assert x.ndim == 2",
        ),
        (
            "for x, y in load(path):",
            "ValueError: too many values to unpack (expected 2)",
            "`load(path)` gives elements of more than 2 parts",
            "print(load(path))",
        ),
        (
            "steps = len(ds) // 8",
            "TypeError: object of type 'MapDataset' has no len()",
            "`ds` is of type MapDataset here, and is asked for its length",
            "print(type(ds), ds)",
        ),
        (
            "rate = model.head(x).units * 2",
            "AttributeError: 'NoneType' object has no attribute 'units'",
            "`model.head(x)` is None here (the function returns nothing",
            "assert model.head(x) is not None",
        ),
        (
            "if step % every:",
            "TypeError: unsupported operand type(s) for %: 'int' and 'str'",
            "`step` is of type int and `every` of type str",
            "print(type(step), type(every))",
        ),
        (
            "self.head = Head(width, depth, drop=0.1)",
            "TypeError: Head.__init__() takes 2 positional arguments but 3 were given",
            "`Head` takes 1 of its arguments by position (self is counted with them), and 2",
            "Head(width, depth=depth, drop=0.1)",
        ),
        (
            "if mask:",
            "TypeError: Using a symbolic `tf.Tensor` as a Python `bool` is not allowed",
            "The condition is `mask`",
            "if mask is not None:",
        ),
        (
            "if loss > 1e3:",
            "jax.errors.TracerBoolConversionError: Attempted boolean conversion",
            "The condition is `loss > 1000.0`: it is a traced array",
            "y = jax.lax.cond(loss > 1000.0, f, g, x)",
        ),
        (
            "real, noise = args",
            "TypeError: cannot unpack non-iterable NoneType object",
            "`args` is None here, and several names",
            "assert args is not None",
        ),
        (
            "model.compile(optimizer=opt, metric=['acc'])",
            "TypeError: Trainer.compile() got an unexpected keyword argument 'metric'",
            "`model.compile` is given `metric=['acc']` and does not take it",
            "model.compile(optimizer=opt)      # without metric",
        ),
        (
            "y = jnp.dot(x, w)",
            "TypeError: dot_general requires contracting dimensions to have the same shape, got"
            " (512,) and (256,).",
            "`x` is of the shape (512,) and `w` of the shape (256,)",
            "print(x.shape, w.shape)",
        ),
        (
            "hits = tf.reduce_sum(predicted == labels)",
            "InvalidArgumentError: Incompatible shapes: [2] vs. [3]",
            "`predicted` is of the shape [2] and `labels` of the shape [3]",
            "print(predicted.shape, labels.shape)",
        ),
        (
            "target.assign(a * tau)",
            "TypeError: Input 'y' of 'Mul' Op has type float32 that does not match type float16"
            " of argument 'x'.",
            "`a` and `tau` meet: the first is float16, the second float32",
            'tf.cast(tau, "float16")',
        ),
    ],
)
def test_part_of_the_line_that_failed(source: str, error: str, cause: str, fix: str) -> None:
    told = operand_of(error, source, None)
    assert told is not None
    assert cause in told.cause
    assert told.fix.startswith(fix)


@pytest.mark.parametrize(
    ("source", "error"),
    [
        ("loss, units=3)", "AttributeError: 'int' object has no attribute 'units'"),
        ("a.size + b.size", "AttributeError: 'int' object has no attribute 'size'"),
        (
            "if norm: x = BatchNormalization()(x)",
            "TypeError: You use control flow.\nusing a `tf.Tensor` as a Python `bool` is odd",
        ),
        ("a, b = pair", "ValueError: not enough values to unpack (expected 3, got 2)"),
    ],
)
def test_nothing_is_said_where_the_line_does_not_show_it(source: str, error: str) -> None:
    assert operand_of(error, source, None) is None


def test_an_object_is_looked_for_only_in_the_line_that_raised() -> None:
    error = "AttributeError: 'NoneType' object has no attribute 'shape'"
    assert operand_of(error, "return value[0]", "fit(x.shape)") is None


def test_a_library_s_line_is_not_the_user_s_to_change() -> None:
    error = "TypeError: f() got an unexpected keyword argument 'axes'"
    assert operand_of(error, "return op.bind(x, axes=axes)", "y = jax.vmap(count)(z)") is None
    assert operand_of(error, "y = f(z, axes=1)", "y = f(z, axes=1)") is not None
