import pytest

from tpudiag.fixes.edits import NoChange

from .changes import TF, changed


def test_the_iterator_starts_once() -> None:
    dist = "dist = strategy.experimental_distribute_dataset(ds)\n"
    loop = dist + "for n in range(9):\n    train(next(iter(dist)))\n"
    assert changed("TPU211", TF + "ds = a.repeat()\n" + loop, "iter(").endswith(
        "iterator = iter(dist)\nfor n in range(9):\n    train(next(iterator))\n"
    )
    with pytest.raises(NoChange, match="no endless repeat"):
        changed("TPU211", TF + "ds = a.batch(3)\n" + loop, "iter(")


@pytest.mark.parametrize(
    "data",
    [
        "strategy.distribute_datasets_from_function(make)",
        "strategy.distribute_datasets_from_function(lambda context: make(context))",
        "make(None)",
    ],
)
def test_the_iterator_of_a_function_starts_once(data: str) -> None:
    made = "def make(context):\n    return load(context).repeat().batch(8)\n\n\n"
    text = f"{TF}{made}d = {data}\nfor n in range(9):\n    step(next(iter(d)))\n"
    message = "the dataset is iterated anew for each step"
    assert changed("TPU211", text, "next(iter(d))", message).endswith(
        f"d = {data}\niterator = iter(d)\nfor n in range(9):\n    step(next(iterator))\n"
    )
    with pytest.raises(NoChange, match="no endless repeat"):
        changed("TPU211", text.replace(".repeat()", ""), "next(iter(d))", message)
