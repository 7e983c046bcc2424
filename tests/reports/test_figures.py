"""Measurements and tables in text: no figure is cut, and long words go below."""

from dataclasses import replace

from tests import made
from tpudiag.catalogue import renderer
from tpudiag.report_figures import Measurement, Table

INSTRUCTIONS = Table(
    "Predicted: the instructions that take most",
    ("instruction", "operation", "line", "ms", "% of step", "bound by", "helps"),
    (
        (
            "select-and-scatter.2",
            "gradient_tape/sequential_1/max_pooling2d_1/MaxPool2d/MaxPoolGrad",
            "train.py:12",
            "0.227 (0.182 to 0.303)",
            14.3,
            "HBM",
            "float32 in HBM: bfloat16 halves its bytes",
        ),
        ("copy.1", "", "", "0.1 (0.1 to 0.2)", 6.0, "HBM", ""),
    ),
    source="predicted",
)


def drawn(*tables: Table, **figures: Measurement) -> list[str]:
    """The lines of a report of these alone, in full."""
    report = made.report(tables=tables, measurements=figures)
    text: str = renderer("text")(report, verbose=True)
    assert max(map(len, text.splitlines())) <= 80
    return text.splitlines()


def test_ranges_of_a_table_are_whole_and_its_long_words_stand_below() -> None:
    lines = drawn(INSTRUCTIONS)
    (row,) = (line for line in lines if "select" in line)
    assert "0.227 (0.182 to 0.303)" in row and "HBM" in row and "train.py:12" in row
    assert "      helps: float32 in HBM: bfloat16 halves its bytes" in lines
    assert not [line for line in lines if "..." in line]
    # What is not known takes no line.
    (last,) = (number for number, line in enumerate(lines) if "copy.1" in line)
    assert not lines[last + 1]


def test_a_table_that_has_room_keeps_its_columns() -> None:
    narrow = replace(
        INSTRUCTIONS,
        columns=INSTRUCTIONS.columns[2:6],
        rows=tuple(row[2:6] for row in INSTRUCTIONS.rows),
    )
    (row,) = (line for line in drawn(narrow) if "train.py:12" in line)
    assert row.endswith("HBM") and "(0.182 to 0.303)" in row


def test_figures_of_one_source_share_it() -> None:
    source = "predicted, not measured: the program of the TPU compiler (libtpu 1, jax 2) for v5e-8"
    lines = drawn(
        predicted_step_ms=Measurement(1.59, "ms", source, low=0.7, high=2.8),
        predicted_examples_per_second=Measurement(1e6, "examples/s", source, low=5e5, high=2e6),
        traces=Measurement(1, "traces", "job"),
    )
    assert sum("TPU compiler" in line for line in lines) == 1
    (step,) = (line for line in lines if "1.59" in line)
    assert step.endswith("1.59 ms  0.7 to 2.8")
    (traces,) = (line for line in lines if "traces" in line)
    assert traces.split() == ["traces", "1", "traces", "job"]
