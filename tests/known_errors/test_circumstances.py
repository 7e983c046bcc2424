"""Answers for the job that a text names."""

from tpudiag.known_errors.circumstances import of_job
from tpudiag.known_errors.search import match

KERAS_TENSOR = "ValueError: A KerasTensor cannot be used as input to a TensorFlow function."
LOST = """\
  File "/home/me/run.py", line 3, in <module>
    main()
  File "/usr/lib/python3.9/site-packages/tensorflow_core/python/eager/execute.py", line 60, in run
tensorflow.python.framework.errors_impl.NotFoundError: /data/a.txt; No such file or directory
"""
STYLE = """\
FileNotFoundError: [Errno 2] No such file or directory: 'seaborn-odd'

The above exception was the direct cause of the following exception:

Traceback (most recent call last):
  File "plot.py", line 5, in <module>
OSError: 'seaborn-odd' is not a valid package theme, path of style file or library style name
"""


def test_release_of_keras_2_is_that_of_the_users_tensorflow() -> None:
    (hit, *_) = of_job(match(KERAS_TENSOR), KERAS_TENSOR + " TF 2.17.1")
    assert '"tf-keras==2.17.*"' in hit.fix
    (hit, *_) = of_job(match(KERAS_TENSOR), KERAS_TENSOR, {"tensorflow-cpu": "2.19.0"})
    assert '"tf-keras==2.19.*"' in hit.fix
    (hit, *_) = of_job(match(KERAS_TENSOR), KERAS_TENSOR, {"tensorflow": "2.15.1"})
    assert "tf-keras" not in hit.fix and hit.fix
    (hit, *_) = of_job(match(KERAS_TENSOR), KERAS_TENSOR)
    assert "tf.__version__" in hit.fix and "<<" not in hit.fix


def test_a_wheel_of_tensorflow_beside_jax_keeps_the_words_of_tensorflow() -> None:
    text = "ValueError: The total size of the tensor must be unchanged. Received: input_shape=(3,)"
    (hit, *_) = of_job(match(text), text, {"tensorflow-cpu": "2.21.0", "jax": "0.10.2"})
    assert "tf.reshape" in hit.fix
    (hit, *_) = of_job(match(text), text, {"jax": "0.10.2"})
    assert "jnp.reshape" in hit.fix


def test_place_and_releases_by_paths() -> None:
    (hit, *_) = of_job(match(LOST), LOST)
    assert hit.place is not None and hit.place.own_line == "/home/me/run.py:3"
    assert hit.releases == "TensorFlow 1.15 to 2.1 (by its paths), Python 3.9 (by its paths)"
    assert hit.names["SCRIPT"] == "/home/me/run.py"


def test_a_log_of_which_the_ends_are_kept_has_the_lines_around_each_error() -> None:
    (hit, *_) = of_job(match(LOST), LOST, whole=False)
    assert hit.place is not None and hit.place.own_line == "/home/me/run.py:3"
    assert of_job((), LOST) == ()


def test_the_exception_that_was_raised_of_the_same_name_says_more_than_the_first() -> None:
    (hit, *_) = of_job(match(STYLE), STYLE)
    assert hit.error.id == "E119"
    assert hit.message.startswith("'seaborn-odd' is not a valid package theme")
    other = STYLE.replace("OSError: 'seaborn-odd'", "OSError: it")
    (hit, *_) = of_job(match(other), other)
    assert "not a valid package theme" not in hit.message


def test_half_precision_on_a_tpu_is_a_matter_of_the_policy() -> None:
    text = (
        "Detected unsupported operations when trying to compile graph f[] on XLA_TPU_JIT: Const"
        " (No registered 'Const' OpKernel for XLA_TPU_JIT devices compatible with node a"
        " (OpKernel was found, but attributes didn't match) Requested Attributes: dtype=DT_HALF"
    )
    (hit, *_) = of_job(match(text), text)
    assert hit.fix.startswith("keras.mixed_precision.set_global_policy")
    alone = text[text.index("No registered") :].replace("HALF", "UINT8")
    (hit, *_) = of_job(match(alone), alone)
    assert "DT_UINT8" in hit.message
    assert "tf.cast(image, tf.float32)" in hit.fix


def test_a_name_that_another_release_has_is_told_with_its_package() -> None:
    text = (
        "ImportError: cannot import name 'full_name' from 'transformers.utils' (/x-packages/x.py)"
    )
    (hit, *_) = of_job(match(text), text)
    assert hit.error.id == "E281" and "The module is transformers.utils." in hit.message
    assert "transformers.utils as m; print(m.__file__" in hit.fix
