"""Names of a text in the blanks of a fix."""

from tpudiag.known_errors.blanks import filled, names_in

COMMAND = "gcloud compute tpus tpu-vm ssh my-pod --zone=us-central2-b --project=lab-1234"


def test_names_of_a_command_fill_the_blanks() -> None:
    names = names_in(COMMAND)
    assert names == {"NAME": "my-pod", "ZONE": "us-central2-b", "PROJECT": "lab-1234"}
    fix = "gcloud compute tpus tpu-vm describe NAME --zone=ZONE --project=PROJECT"
    filled_in = "gcloud compute tpus tpu-vm describe my-pod --zone=us-central2-b --project=lab-1234"
    assert filled(fix, names) == filled_in


def test_what_is_named_twice_or_is_everybodys_fills_nothing() -> None:
    assert names_in("zones us-central1-a and us-central1-b, gs://cloud-tpu-checkpoints/bert") == {}
    assert names_in("gs://mine/data/a, gs://mine/data/b") == {"BUCKET": "mine"}
    assert names_in("TPUClusterResolver(tpu='local')") == {}


def test_tpu_that_is_made_keeps_its_zone_open() -> None:
    fix = "gcloud compute tpus tpu-vm create NAME --zone=ZONE"
    assert filled(fix, names_in(COMMAND)) == fix


def test_script_and_release() -> None:
    names = {"SCRIPT": "imagenet.py", "tensorflow": "2.17.1"}
    assert filled("tpudiag check train.py --for v5e-8", names).endswith("imagenet.py --for v5e-8")
    pinned = filled('pip install "tensorflow-text==THE_VERSION_OF_TENSORFLOW"', names)
    assert pinned == 'pip install "tensorflow-text==2.17.1"'


def test_installing_is_told_of_the_framework_that_the_text_is_of() -> None:
    jax = names_in('File "/venv/lib/python3.11/site-packages/jax/_src/xla_bridge.py", line 1')
    assert jax["framework"] == "JAX" and "jax[tpu]" in jax["tpu_install"]
    assert names_in("external/org_tensorflow/tensorflow/core/a.cc:1] B")["framework"] == "JAX"
    compiler = "jaxlib.XlaRuntimeError: RET_CHECK third_party/tensorflow/compiler/xla/hlo.cc:1"
    assert names_in(compiler)["framework"] == "JAX"
    assert "tpu_install" not in names_in("tf.data")


def test_a_fix_is_in_the_words_of_the_framework_of_the_text() -> None:
    names = names_in("import jax")
    fix = "y = tf.cast(y, x.dtype)\nkeras.Model()\n    more()"
    assert filled(fix, names) == "y = y.astype(x.dtype)"
    assert filled(fix, names_in("import jax; tf.add(x)")) == fix
    assert filled("keras.Model()", names) == "keras.Model()"
    assert names_in("a", {"torch-xla": "2.6"})["framework"] == "PyTorch/XLA"
