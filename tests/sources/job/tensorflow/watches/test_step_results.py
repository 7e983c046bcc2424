"""What a loop does with the results of its steps."""

import pytest

from tests.sources.job.programs import InTensorFlow

pytestmark = pytest.mark.slow

PROGRAM = """
import linecache
import numpy as np
from tpudiag.sources.job.tensorflow.watches import step_results

SCRIPT = '''
def loop(steps):
    for step in range(steps):
        loss = train_step(step)
        print_loss(float(loss))
        if step % 4 == 0:
            print_loss(loss.numpy())
        summary.scalar("loss", loss, step)
        float(tf.constant(1.0))
        weights.numpy()
        variables.get_weights()
        int(counter)
        save(weights)

def alternate(steps):
    for step in range(steps):
        critic, generator = train_step(step, "critic"), train_step(step, "generator")
        if float(critic) > 0.7:
            print_loss(generator)
        if step % 2:
            float(generator)

def into_arrays(steps):
    for step in range(steps):
        np.asarray(train_step(step, "array"))
        np.array([step])
'''
watch = step_results.StepResultWatch(tf)

def train_step(step, function="step"):
    loss = tf.constant(2.0) * step
    watch.step_done(loss, function)
    return loss

weights, counter = tf.Variable([1.0, 2.0]), tf.Variable(3)

LIBRARY = '''
def save(variable):
    return variable.numpy()

class Model:
    def get_weights(self):
        return [weights.numpy()]
'''
library = {"weights": weights}
exec(compile(LIBRARY, linecache.__file__, "exec"), library)
space = {"weights": weights, "counter": counter, "save": library["save"]}
space["variables"] = library["Model"]()
space |= {"np": np, "tf": tf, "train_step": train_step}
space |= {"print_loss": lambda _: None, "summary": tf.summary}
exec(code_of(SCRIPT), space)
space["loop"](8)
space["alternate"](6)
space["into_arrays"](5)
print(json.dumps([[f.location.line, f.kind, f.steps, f.of_steps] for f in watch.fetches()]))
"""


def test_lines_that_fetch_and_how_often(in_tensorflow: InTensorFlow) -> None:
    fetches = {line: rest for line, *rest in in_tensorflow(PROGRAM)}
    assert fetches[5] == ["result", 8, 8]
    assert fetches[7] == ["result", 2, 8], "every fourth step"
    assert fetches[8][0] == "summary"
    assert 9 not in fetches, "no result of a step"
    assert fetches[10] == fetches[11] == ["variable", 8, 8]
    assert not {12, 13} & set(fetches), "a counter, and what saves"
    assert fetches[18] == ["result", 6, 6], "of the step that gave it, whatever the other did"
    assert fetches[21] == ["result", 3, 6]
    assert fetches[25] == ["result", 5, 5] and 26 not in fetches
