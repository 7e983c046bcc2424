"""How wide and long a table is by the shapes that a script brings its rows into."""

from __future__ import annotations

import pytest

from tpudiag.sources.job.tensorflow.fake_data import table_columns
from tpudiag.sources.job.tensorflow.fake_data.table_sizes import TableSize, read

TABLE = "t = pd.read_csv('a.csv')\n"


def size(text: str) -> TableSize:
    return read([TABLE + text], table_columns.tables)


@pytest.mark.parametrize(
    ("text", "numbers", "rows"),
    [
        ("x = t.drop(labels=['y'], axis=1).values.reshape(-1, 28, 28, 1)", 784, None),
        ("x = t.drop('y', axis=1)\nx = x / 255\nx = x.values.reshape(42000, 28, 28)", 784, 42_000),
        ("N = 32\nx = np.array(t.iloc[:, 1:])\nx = np.reshape(x, (len(x), N, N, 3))", 3072, None),
        ("a, b = train_test_split(t.values)\na = a.reshape((-1, 8, 8))", 64, None),
        ("x, y = t.drop('c', axis=1), t['c']\nz = x.values.reshape(len(x), 32, 32)", 1024, None),
        ("x = t['signal'].values.reshape(-1, 4000, 1)", None, None),
        ("x = t.values.reshape(-1, 1)", None, None),
        ("x = np.reshape(picture, (1, 224, 224, 3))", None, None),
        ("x = t.values.reshape(-1, 1024, 1024, 3)", None, None),
    ],
)
def test_rows_are_as_wide_as_their_shape_says(
    text: str, numbers: int | None, rows: int | None
) -> None:
    assert (size(text).numbers, size(text).rows) == (numbers, rows)


@pytest.mark.parametrize(
    ("text", "classes"),
    [
        ("m.add(Dense(10, activation='softmax'))", 10),
        ("N = 12\ny = to_categorical(y, num_classes=N)", 12),
        ("m.add(Dense(64, activation='relu'))", None),
        ("this is no Python (", None),
    ],
)
def test_classes_are_those_of_the_last_layer(text: str, classes: int | None) -> None:
    assert size(text).classes == classes


def test_positions_tell_columns_and_rows() -> None:
    told = size("x = t.iloc[:, 3].values\nprint(x[5144], x[2000:])")
    assert (told.columns, told.index) == (4, 5144)
    assert size("x = [1, 2][0]").columns == 0


@pytest.mark.parametrize(
    ("text", "dropped"),
    [
        ("t = t.iloc[:, 1:]\ny = t['intent']", 1),
        ("x = t.iloc[:, 1:]", 0),
        ("t = t.iloc[:, :3]", 0),
        ("t = t.iloc[:, k:]", 0),
    ],
)
def test_columns_in_front_are_taken_off_a_table_that_keeps_its_name(
    text: str, dropped: int
) -> None:
    assert size(text).dropped == dropped
