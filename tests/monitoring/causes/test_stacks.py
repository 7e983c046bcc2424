"""What a main thread is busy with, from py-spy's frames."""

import pytest

from tpudiag.monitoring.causes.stacks import summary

LIB = "/usr/lib/python3.11/site-packages/"
MAIN = "<module> (/job/train.py:90)"


@pytest.mark.parametrize(
    ("frame", "activity"),
    [
        ("evaluate (/job/train.py:40)", "evaluation"),
        ("run_validation (/job/train.py:40)", "evaluation"),
        ("eval_step (/job/train.py:40)", "evaluation"),
        (f"save (/{LIB}tensorflow/python/checkpoint/checkpoint_management.py:7)", "checkpoint"),
        ("save_checkpoint (/job/train.py:40)", "checkpoint"),
        (f"func_graph_from_py_func ({LIB}tensorflow/python/framework/func_graph.py:9)", "compile"),
        (f"_next_internal ({LIB}tensorflow/python/data/ops/iterator_ops.py:7)", "input"),
        (f"evaluate ({LIB}keras/src/trainers/trainer.py:400)", "evaluation"),
        (f"Tensor.eval ({LIB}tensorflow/python/framework/ops.py:400)", None),
        ("retrieval (/job/train.py:40)", None),
        ("medieval_step (/job/train.py:40)", None),
        ("savefig (/job/plot.py:4)", None),
        ("train_step (/job/train.py:12)", None),
    ],
)
def test_by_the_outermost_function_that_tells(frame: str, activity: str | None) -> None:
    seen = summary([([MAIN, frame, f"execute ({LIB}tensorflow/python/eager/execute.py:50)"], 10)])
    assert [name for name, _ in seen.shares] == ([activity] if activity else [])


def test_shares_and_lines() -> None:
    seen = summary(
        [
            ([MAIN, "evaluate (/job/train.py:40)", "load (/job/data.py:7)"], 30),
            ([MAIN, "train_step (/job/train.py:12)"], 70),
        ]
    )
    assert seen.share("evaluation") == pytest.approx(0.3)
    assert seen.line == "/job/train.py:12 (train_step)"
    assert seen.line_share("/job/data.py:7 (load)") == pytest.approx(0.3)
    assert summary([]).fault
