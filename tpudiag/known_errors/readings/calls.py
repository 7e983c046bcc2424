# ruff: noqa: E501  (what is pasted stays in one piece)
"""Calls with other arguments than a function takes."""

from __future__ import annotations

import re

from .meaning import Reading, first_over

_MISSING = re.compile(
    r"(?P<function>[\w.<>]{1,60})\(\)missing(?P<count>\d{1,2})required(?:positional|keyword-only)?arguments?:'(?P<name>\w{1,60})'"
)
_COUNT = re.compile(
    r"(?P<function>[\w.<>]{1,60})\(\)takes(?:from\d{1,2}to)?(?P<takes>\d{1,2})positionalarguments?but(?P<given>\d{1,2})"
)
_STEP = re.compile(
    r"(?:^|\.|tf__)(?:\w{0,20}(?:train|test|eval|valid)\w{0,10}_?step|step_fn|run_step|replica_fn)\w{0,6}$"
)
_CALL = re.compile(r"(?:^|\.|tf__)(?:call|__call__)$")
_LOSS = re.compile(r"(?:^|\.|tf__)\w{0,20}(?:loss|metric|accuracy)\w{0,20}$")


def read(text: str, begin: int, end: int) -> Reading | None:
    """What a call without an argument, or with too many, mostly is."""
    if told := first_over(_MISSING, text, begin, end):
        return _missing(told["function"], told["name"])
    if told := first_over(_COUNT, text, begin, end):
        return _counted(told["function"], int(told["takes"]), int(told["given"]))
    return None


def _missing(function: str, name: str) -> Reading:
    """A call without an argument that has to be there."""
    if _STEP.search(function):
        return Reading(
            f"`{function}` is called without `{name}`: the elements of `args` are its arguments, and the batch has fewer parts than it takes.",
            "strategy.run(step_fn, args=(images, labels))      # one element of args for each argument; args=(batch,) gives one",
        )
    if _CALL.search(function) and name in {"inputs", "x"}:
        return Reading(
            f"A layer or model is called with nothing: `{name}`, its first argument, is missing. Each Keras layer takes a tensor, also one that only holds weights.",
            "y = layer(x)      # not layer(); a layer of weights alone: give it any input (tf.zeros([1])) and return the weight, or self.add_weight in the layer that uses it",
        )
    if _CALL.search(function) and name == "step":
        return Reading(
            "A learning rate schedule is called without `step`: something takes it for a function without arguments (an optimizer or a wrapper of another release or Keras, `lr()` in your own code).",
            "optimizer = keras.optimizers.Adam(learning_rate=schedule)      # the schedule itself, of the optimizer's Keras\nrate = schedule(optimizer.iterations)                          # where your code wants the value",
        )
    if _CALL.search(function):
        return Reading(
            f"A layer or model is called without `{name}`: it takes several inputs, and got one (or a list where it takes them apart).",
            f"layer(x, {name}={name})      # or def call(self, inputs): x, {name} = inputs",
        )
    if function.startswith("tf__"):
        return Reading(
            f"`{function.removeprefix('tf__')}` is called in a graph without `{name}`: a transformation of tf.data gives it each part of an element as an argument, and the elements have fewer parts than it takes (one for a dict or a single tensor).",
            "print(dataset.element_spec)                                  # one part for each argument\n"
            f"dataset.map(lambda element: {function.removeprefix('tf__')}(element, {name}=...))      # or give it yourself; a dict comes as one argument",
        )
    if function.endswith("Error.__init__"):
        return Reading(
            "The error that this was about is hidden: code that raises an error anew (Keras, transformers, a progress bar, a process that hands it on) made it without the arguments that its class wants. What failed stands above, in the first traceback.",
            "# the first traceback, before `During handling of the above exception`: its last line is the error\n"
            "tf.config.run_functions_eagerly(True)      # where there is none: the same call in plain Python, outside the library's wrapper",
        )
    if function.endswith("__init__"):
        return Reading(
            f"An object is made without `{name}`: its class has no default for it. While a model is loaded, get_config does not return it.",
            f'def get_config(self): return super().get_config() | {{"{name}": self.{name}}}      # for a class of your own; else pass {name}=',
        )
    if _LOSS.search(function):
        return Reading(
            f"`{function}` is called without `{name}`: Keras calls a loss or metric with (y_true, y_pred) alone.",
            f"loss=lambda y_true, y_pred: {function.rsplit('.', 1)[-1]}(y_true, y_pred, {name}=...)",
        )
    return Reading(
        f"`{function}` is called without `{name}`: a method called on its class (the parentheses that make the object are missing, so"
        " that the first argument was taken for `self`), a call with fewer arguments, or a release that takes more.",
        f"Class().{function.rsplit('.', 1)[-1]}(...)      # an object: Class() in place of Class (cross_device_ops=tf.distribute.ReductionToOneDevice())",
        guess=True,
    )


def _counted(function: str, takes: int, given: int) -> Reading:
    """A call with more or fewer arguments than are taken."""
    said = f"`{function}` takes {takes} arguments and got {given}"
    if _STEP.search(function):
        return Reading(
            f"{said}: each element of `args` is one argument.",
            "strategy.run(step_fn, args=(batch,))      # one argument; args=batch takes the batch apart\n"
            "def step_fn(images, labels): ...            # or as many as the batch has parts",
        )
    if _CALL.search(function):
        return Reading(
            f"{said}: a layer takes its inputs as one argument, as a list or tuple; other tensors by name.",
            "layer([query, value])      # not layer(query, value); def call(self, inputs, training=False, mask=None)",
        )
    if function in {"<lambda>", "lambda"} or "map" in function:
        return Reading(
            f"{said}: dataset.map gives each part of an element as an argument of its own.",
            "dataset.map(lambda x, y: ...)      # two arguments for (x, y); one for a dict or a single tensor",
        )
    return Reading(
        f"{said}: {'`self` is missing from the definition, or' if given == takes + 1 else ''} arguments have to be passed by name in this release.".replace(
            ":  ", ": "
        ),
        f"{function.rsplit('.', 1)[-1]}(x, name=value)      # by name: inspect.signature says which",
        guess=True,
    )
