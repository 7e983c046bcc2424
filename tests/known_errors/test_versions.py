"""The versions that a text names, and the fix that holds for them."""

from tpudiag.known_errors.search import match
from tpudiag.known_errors.versions import narrowed, versions_in

GENCODE = "TypeError: Descriptors cannot be created directly."


def test_versions_are_read_in_the_ways_people_write_them() -> None:
    text = "TF 2.15\nkeras: 3.0.5\nlibtpu==0.0.10\nTensorFlow version: 2.3.0\nnumpy 1.26.4"
    assert versions_in(text) == {
        "tensorflow": "2.15",
        "keras": "3.0.5",
        "libtpu": "0.0.10",
        "numpy": "1.26.4",
    }
    assert versions_in("tensorflow-tpu-2.19.1") == {"tensorflow": "2.19.1"}


def test_address_or_step_is_no_version() -> None:
    assert versions_in("10.0.0.2:8470, step 12, loss 2.15, tensorflow/core/tpu.cc:98") == {}
    assert versions_in("<tf.Tensor: shape=(), dtype=float32, numpy=2.3>") == {}


def test_fix_is_that_of_the_users_version() -> None:
    (found,) = match(GENCODE)
    assert "protobuf>=5.28,<6" in narrowed(found, {"tensorflow": ("2.19.1",)}).fix
    assert "protobuf>=4.21,<5" in narrowed(found, {"tensorflow": ("2.13.0",)}).fix
    assert narrowed(found, {"tensorflow": ("1.15",)}).fix == found.error.fix
    assert narrowed(found, {}) == found
