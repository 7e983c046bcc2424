"""The same random numbers in each run."""

# pyright: reportPrivateUsage=false, reportUnknownLambdaType=false
# pyright: reportUnknownArgumentType=false, reportUnknownMemberType=false
from functools import partial
from itertools import count
from types import SimpleNamespace
from typing import Any

import numpy as np

from tpudiag.sources.job.tensorflow.devices import same_numbers


def test_generators_without_a_seed_get_one_and_others_keep_theirs() -> None:
    runs = []
    for _ in range(2):
        default_rng: Any = partial(same_numbers._reproducible, count(7), np.random.default_rng)
        unseeded = [default_rng().random(), default_rng(None).random()]
        runs.append(unseeded)
        assert unseeded[0] != unseeded[1]
        assert default_rng(seed=42).random() == np.random.default_rng(42).random()
        assert default_rng(42).random() == np.random.default_rng(42).random()
    assert runs[0] == runs[1]


class Scalar(float):
    dtype = SimpleNamespace(is_floating=True)
    shape = SimpleNamespace(rank=0)


def test_the_loss_of_a_step_is_kept() -> None:
    def flatten(value: Any, expand_composites: bool = False) -> list[Any]:
        assert expand_composites
        return [*value.values()] if isinstance(value, dict) else [value]

    tf: Any = SimpleNamespace(
        nest=SimpleNamespace(flatten=flatten), random=SimpleNamespace(set_seed=lambda _: None)
    )
    numbers = same_numbers.SameNumbers(tf, 1)
    numbers.step_done({"loss": Scalar(3.0), "accuracy": Scalar(1.0)})
    numbers.step_done({"a": Scalar(1.0), "b": Scalar(3.0)})
    numbers.step_done("nothing that floats")
    numbers.step_done(SimpleNamespace(has_value=lambda: False, get_value=lambda: Scalar(9.0)))
    facts = numbers.facts(4)
    assert (facts.steps, facts.losses, facts.weights) == (4, (3.0, 2.0), ())
