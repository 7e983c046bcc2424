import pytest

from tpudiag.fixes.edits import NoChange

from .changes import TF, changed

COMPILED = {"compiles of one line": 6}


def test_a_fetch_becomes_rare() -> None:
    text = (
        TF + "for step in range(9):\n    loss = train()\n    if loss < best:\n        best = loss\n"
    )
    assert changed("TPU108", text, "if loss", "after 9 of 9 steps") == TF + (
        "for step in range(9):\n    loss = train()\n    if step % 100 == 0:\n"
        "        if loss < best:\n            best = loss\n"
    )


def test_a_loop_without_a_number_gets_one() -> None:
    text = TF + "for x, y in data:\n    loss = train(x, y)\n    print(float(loss))\n"
    assert changed("TPU108", text, "print", "") == TF + (
        "for step, (x, y) in enumerate(data):\n    loss = train(x, y)\n"
        "    if step % 100 == 0:\n        print(float(loss))\n"
    )


def test_a_sum_stays_on_the_device() -> None:
    text = TF + "for b in data:\n    total += float(train(b))\nprint(total)\n"
    assert "    total += train(b)\n" in changed("TPU108", text, "total +=", "")
    kept = TF + "for b in data:\n    losses.append(train(b).numpy())\n"
    assert "    losses.append(train(b))\n" in changed("TPU108", kept, "append", "")


def test_all_that_one_line_keeps_stays_on_the_device() -> None:
    text = TF + (
        "for x in data:\n    a, b = train(x)\n    kept.append((float(a.numpy()), b.numpy()))\n"
    )
    assert changed("TPU108", text, "kept", "after 9 of 9 steps") == TF + (
        "for x in data:\n    a, b = train(x)\n    kept.append((a, b))\n"
    )


def test_what_is_used_later_stays() -> None:
    text = TF + "for n in range(9):\n    value = float(loss)\n    seen(value)\n"
    with pytest.raises(NoChange, match="value is used"):
        changed("TPU108", text, "value =", "")


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


def test_the_tpu_is_initialised_once() -> None:
    line = "tf.tpu.experimental.initialize_tpu_system(r)\n"
    text = "import tensorflow as tf\n" + line + "def again():\n    " + line + "    return r\n"
    assert changed("TPU109", text, "    tf.tpu", figures={"initialisations": 2}) == (
        "import tensorflow as tf\n" + line + "def again():\n    return r\n"
    )


def test_the_model_is_compiled_once() -> None:
    text = TF + (
        "for epoch in range(6):\n    with strategy.scope():\n"
        "        model.compile(\n            Adam(1e-3 / (epoch + 1)),\n"
        "            'mse',\n        )\n"
        "    model.fit(ds)\n"
    )
    assert changed("TPU109", text, "model.compile", figures=COMPILED) == TF + (
        "with strategy.scope():\n    model.compile(\n        Adam(),\n        'mse',\n    )\n"
        "for epoch in range(6):\n    model.optimizer.learning_rate = 1e-3 / (epoch + 1)\n"
        "    model.fit(ds)\n"
    )
    plain = TF + "for epoch in range(6):\n    model.compile('sgd', 'mse')\n    model.fit(ds)\n"
    assert changed("TPU109", plain, "compile", figures=COMPILED) == TF + (
        "model.compile('sgd', 'mse')\nfor epoch in range(6):\n    model.fit(ds)\n"
    )


def test_results_are_reduced_over_all_replicas() -> None:
    text = TF + "print(float(strategy.experimental_local_results(loss)[0]))\n"
    assert "float(strategy.reduce(tf.distribute.ReduceOp.MEAN, loss, axis=None))" in changed(
        "TPU507", text, "print", "the result of replica 0"
    )
    averaged = TF + "x = strategy.reduce('MEAN', loss, axis=None)\n"
    assert "reduce('SUM'" in changed("TPU507", averaged, "reduce", figures={"reduced by": "MEAN"})


def test_several_steps_run_in_a_dispatch() -> None:
    text = TF + "model.compile('sgd')\n"
    assert "compile('sgd', steps_per_execution=50)" in changed("TPU106", text)
