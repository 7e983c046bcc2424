"""Where an error happened: of scripts, notebooks, graphs and layers."""

from tpudiag.known_errors.place import Place, place_near, place_of

SCRIPT = """\
Traceback (most recent call last):
  File "/home/me/train.py", line 40, in <module>
    main()
  File "/home/me/train.py", line 33, in main
    loss = strategy.run(step, args=(batch,))
  File "/usr/lib/python3.11/site-packages/tensorflow/python/distribute/tpu_strategy.py", line 3, in run
    return self.extended.tpu_run(fn, args, kwargs)
InvalidArgumentError: {{node model/dense_1/MatMul}} odd
"""  # noqa: E501
NOTEBOOK = """\
<ipython-input-14-2fe5> in <module>()
     31     )
     32
---> 33 model.fit(data, steps_per_epoch=10)

/usr/local/lib/python3.6/dist-packages/tensorflow/python/keras/engine/training.py in fit(self)
    235     utils.train_model(
--> 236         self.batch_size)
ValueError: odd
"""


def test_innermost_line_of_the_users_own() -> None:
    place = place_of(SCRIPT)
    assert place.own_line == "/home/me/train.py:33"
    assert place.source == "loss = strategy.run(step, args=(batch,))"
    assert place.script == "/home/me/train.py"
    assert place.operation == "model/dense_1/MatMul"
    compiled = '\n  File "h5py/h5t.pyx", line 293, in init h5py.h5t\n'
    assert place_of(SCRIPT.replace("\nInvalid", f"{compiled}Invalid")).own_line == place.own_line


def test_cell_of_a_notebook_old_and_new() -> None:
    place = place_of(NOTEBOOK)
    assert place.own_line == "<ipython-input-14-2fe5>, line 33"
    assert place.source == "model.fit(data, steps_per_epoch=10)"
    new = place_of("Cell In[5], line 2\n      1 x = 1\n----> 2 f(x)\nTypeError: odd")
    assert (new.own_line, new.source) == ("cell 5, line 2", "f(x)")


def test_layer_that_keras_names() -> None:
    wrapped = "Exception encountered when calling layer 'dense_3' (type Dense).\n\nodd"
    assert place_of(wrapped).layer == "dense_3 (Dense)"
    incompatible = 'Input 0 of layer "conv2d" is incompatible with the layer'
    assert place_of(incompatible).layer == "conv2d"


def test_traceback_of_another_error_far_before_is_not_meant() -> None:
    text = SCRIPT + "step 1\n" * 1000 + "RuntimeError: odd\n"
    assert place_near(text, text.count("\n")) == Place()
    assert place_near(text, 8).own_line == "/home/me/train.py:33"


def test_condition_of_an_assert() -> None:
    new = "--> 990     assert start is not None\nAssertionError: "
    assert place_of(new).condition == "start is not None"
    assert place_of("assert the facts\nValueError: odd").condition is None


def test_the_error_behind_a_frame_is_no_source_line() -> None:
    place = place_of('File "train.py", line 159, in main\nValueError: two are wanted')
    assert (place.own_line, place.source) == ("train.py:159", None)


def test_lines_as_autograph_shows_them() -> None:
    place = place_of(
        "    /content/My Drive/net/layers.py:158 call  *\n        y = tf.reshape(x, [groups, -1])\n"
        "    /usr/lib/python3.6/dist-packages/tf/ops.py:201 wrapper  **\n        return f()\n"
        "    ValueError: odd\n"
    )
    assert place.own_line == "/content/My Drive/net/layers.py:158"
    assert place.source == "y = tf.reshape(x, [groups, -1])"
    assert place.raised == "return f()"
