"""A hole takes any use, and keeps what was done with it."""

# pyright: reportUnknownMemberType=false, reportUnknownArgumentType=false
# pyright: reportUnknownVariableType=false, reportUnknownLambdaType=false
from __future__ import annotations

import copy
import itertools
import json
import pickle
from collections.abc import Callable
from typing import Any

import pytest

from tpudiag.sources.job.tensorflow.fake_data import holes
from tpudiag.sources.job.tensorflow.fake_data.hole_sizes import LENGTH, Guess
from tpudiag.sources.job.tensorflow.fake_data.holes import Hole, count, of_table
from tpudiag.sources.job.tensorflow.fake_data.install import write_and_open_holes

np = pytest.importorskip("numpy")


_OF_FRAMES = "loc iloc at drop groupby merge copy query iterrows itertuples apply values shape"
FRAME = type("DataFrame", (), dict.fromkeys(_OF_FRAMES.split(" ")))
"""What pandas' own has."""


def test_any_use_of_a_hole_is_one() -> None:
    hole: Any = Hole()
    used = (hole.rows[3:]["name"](1, a=2) + 1) / hole - hole
    assert isinstance(used, Hole) and isinstance(1 - hole == 3, Hole)
    assert isinstance(np.exp(hole), Hole) and isinstance(np.concatenate([hole, hole]), Hole)
    assert [len(hole), int(hole), float(hole), bool(hole)] == [LENGTH, 2, 2.0, True]
    first, (second, third) = hole
    assert isinstance(first, Hole) and isinstance(second, Hole) and isinstance(third, Hole)
    assert hole.status == 200 and not hole.status != 200  # noqa: SIM202
    assert f"{hole:>10}" and "x" in hole and list(zip(hole, [1], strict=False))
    with hole.open() as file:
        assert isinstance(file.read(), Hole)


@pytest.mark.parametrize(
    "asked",
    [
        lambda t: t[f"feature_{len(t)}"].values,
        lambda t: t.label,
        lambda t: t[list(t)[1:6]].astype(float),
        lambda t: t.loc[:, "rust":"scab"],
        lambda t: t.loc[t.fold != 0, "name"],
        lambda t: t.iloc[:, 7],
        lambda t: t.at[5, "text"].split(),
        lambda t: t.drop(columns=["label"]),
        lambda t: t.groupby(["group"]).agg({"size": "mean"}),
        lambda t: t.merge(t.copy()[["a"]], on=["a", "b"], how="left")["a"],
        lambda t: t["file_name"].str.split("_").str[-1].astype(int) + 1,
        lambda t: range(int(t["class_id"].max()) + 1),
        lambda t: t.query("grade >= 0"),
        lambda t: [row["text"].split() for _, row in t.iterrows()],
        lambda t: [row.path + ".jpg" for row in t.itertuples()],
        lambda t: t.apply(lambda row: row["first"] + row.second, axis=1),
        lambda t: ("../" + t["which"] + ".png").iloc[0],
        lambda t: t[~t.split.isin(["train", "test"])],
        lambda t: t["emotion"].map({"neg": 0, "pos": 1}).notna(),
        lambda t: [int(part) for part in t["x"][0].split(",")],
        lambda t: t.values.reshape((-1, 28, 28, 1)),
    ],
)
def test_a_column_is_there_however_it_is_named(asked: Callable[[Any], Any]) -> None:
    assert len(asked(holes.of_table(FRAME, 512, {}))) > 0


def test_a_table_has_the_rows_and_columns_that_are_asked_for() -> None:
    table: Any = holes.of_table(FRAME, 512, {"nrows": 9, "names": ["u", "v"]})
    assert table.shape == (9, 2) and table.label.ndim == table.drop(columns=["u"])["v"].ndim == 1
    assert np.array(table["u"]).tolist()[:3] == [0, 1, 0]
    assert table[["a", "b", "c"]].shape == (9, 3) and holes.of_table(FRAME, 6, {}).shape[0] == 6
    assert len(next(holes.of_table(FRAME, 512, {"chunksize": 5}))) == 512


def test_a_library_takes_a_hole_for_data_and_the_script_for_what_it_will() -> None:
    hole: Any = Hole()
    known: dict[str, Any] = {}
    exec(compile("def asks(x): return hasattr(x, 'fit')", np.__file__, "exec"), known)
    assert not known["asks"](hole) and isinstance(hole.fit(1).history["loss"], Hole)
    text = "def sized(x):\n    while len(x) > 0:\n        x = x[0]\n"
    exec(compile(text, np.__file__, "exec"), known)
    with pytest.raises(TypeError, match="Hole"):
        known["sized"]([hole])


def test_a_loop_over_batches_without_an_end_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Hole, "tpudiag_filled", staticmethod(lambda _: itertools.count()))
    batches = holes.batched(8)
    looped = [round_ for round_, _ in enumerate(batches)]
    assert len(looped) == sum(1 for _ in batches) > 25
    at_will = iter(batches)
    assert [next(at_will) for _ in range(100)][-1] == 99


def test_rounds_that_take_long_are_few_where_nothing_tells_their_number(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(holes, "_LONG_S", -1.0)
    folds: Any = Hole()
    assert sum(1 for _ in folds) == len(folds) == 2
    told = folds.reshape(5, 4)
    assert sum(1 for _ in told) == len(told) == 5


def test_a_hole_keeps_the_shape_and_the_batch_that_were_asked_of_it() -> None:
    hole: Any = Hole()
    pictures = hole.reshape((-1, 28, 28, 1)).astype("float32") / 255
    assert pictures.shape == (LENGTH, 28, 28, 1)
    frames: Any = Hole()
    rows, _, wide = frames.shape
    assert (rows, wide) == (LENGTH, frames.shape[2]) and frames[0].shape == frames.shape[1:]
    told, guessed = (of.shape[1] for of in (pictures.reshape(-1, 5), hole[:3]))
    assert isinstance(guessed, Guess) and not isinstance(told, Guess), "a width that nothing told"
    assert len(hole.shape) == 2 < frames.shape[3], "as many sizes as are asked for"
    assert pictures[3].shape == (28, 28, 1) and len(hole[0][0][0]) == LENGTH
    assert [pictures.ndim, pictures[0][0][0][0].ndim] == [4, 0]
    assert np.reshape(hole, (7, 2)).shape == (7, 2) and np.asarray(pictures).shape[1:] == (
        28,
        28,
        1,
    )
    assert holes.batch_of(hole.shuffle(9).batch(64, drop_remainder=True).prefetch(1)) == 64
    assert holes.batch_of(hole.to_tf_dataset(columns=["a"], batch_size=16)) == 16
    assert holes.batch_of(hole.shuffle(64)) is None
    assert holes.holds({"x": [1, (hole,)]}) and not holes.holds({"x": [1, (2,)]})


def test_a_hole_is_as_long_as_what_it_was_made_of_or_is_put_beside() -> None:
    hole: Any = Hole()
    texts, labels = ["a text"] * 300, np.arange(40)
    tokens = hole.encode(texts, max_length=128)["input_ids"]
    assert len(tokens) == len(np.array(tokens)) == len(list(tokens)) == 300
    assert len(hole == labels) == len(labels == hole) == len(hole + labels) == 40
    assert len(np.stack([hole, labels])) == 40
    assert np.asarray(tokens.reshape(-1, 4)).shape == (300, 4)
    assert np.array(tokens).shape == (300, 128) and np.array(hole / 255).shape[1] < 128
    begin, end = ["first"], ["last"]
    for text in texts[:2]:
        ids = begin + hole.tokenize(text)[:9] + end
        assert np.array(ids + [0] * (16 - len(ids))).shape == (16,), "rows of one length"
    odds = hole.value_counts().yes / hole.value_counts().no
    neg, pos = np.bincount(hole.query("lang == 'en'")["y"])
    assert np.log(pos / neg).tpudiag_dims == ()
    assert np.isfinite(np.log([odds])).all() and np.log([np.sum(hole)]).shape == (1,)
    assert np.array(hole.sum(axis=1)).ndim == np.array(hole.mean() + labels).ndim == 2
    table: Any = of_table(dict, 40, {})
    assert [table["x"].ndim for _ in range(2)] == [1, 1]
    assert table[np.ones((40, 8), bool)].ndim == 1 and table[np.ones(40, bool)].ndim == 2
    named = [table[f"x{number}"] for number in range(38)]
    assert np.array(table.values).shape == (40, len(named) + 1)
    assert np.mean(labels_of := hole.reshape(9, 4), axis=0).tpudiag_dims, "of each column"
    assert count([labels_of, labels_of]) == count({"x": labels_of}) == 9
    assert [len(tokens[3]), len(hole.reshape([2, 3])), len(hole.columns("a", "b"))] == [
        128, 2, LENGTH,
    ]  # fmt: skip


def test_a_hole_is_as_long_as_what_is_taken_of_it() -> None:
    hole: Any = Hole()
    beside = hole + np.arange(40)
    assert [len(hole[:100]), len(hole[8:].x[:-2]), len(beside[30:])] == [100, LENGTH - 10, 10]
    assert hole[["x", "y"]].shape == (len(hole), 2), "columns"
    assert [hole[:5, :-1].shape, hole[:5, -1].shape, hole[:5, ..., None].shape] == [
        (5, 7), (5,), (5, 8, 1),
    ]  # fmt: skip
    assert holes.is_open(hole[..., None]) and holes.stacked([hole[0], hole[1]]).shape == (2, 8)
    assert [len(hole[np.arange(6)]), len(hole[[4, 2]]["x"]), len(hole[:7, 3])] == [6, 2, 7]
    assert len(beside[np.arange(40) > 3]) == 40 and np.array(hole[:9]).shape[0] == 9


def test_who_counts_a_hole_first_says_how_long_it_is() -> None:
    rows: Any = Hole()
    looped = [row for row in rows]  # noqa: C416
    assert len(looped) == len(rows) == len(rows.labels) == len(np.asarray(rows)) < LENGTH
    counted: Any = Hole()
    assert len(counted) == sum(1 for _ in counted) == len(list(counted.x)) == LENGTH
    by_name: Any = Hole()
    assert [len(by_name[f"P{n}"]) for n in range(99)][::98] == [LENGTH, 8], "no columns any more"
    called = rows.open().read("a")
    assert len(list(called)) == len(called) == len(called.x) and len(called[3]) != len(called)


def test_a_hole_is_written_as_anything_is() -> None:
    hole: Any = Hole()
    words: list[Any] = [Hole() for _ in range(400)]
    assert 1 <= len({*words}) <= 8, "a set of words is a vocabulary"
    assert isinstance(pickle.loads(pickle.dumps([hole.map(lambda: 0)]))[0], Hole)
    write_and_open_holes()
    assert json.loads(json.dumps({"a": Hole()})) == {"a": 2}
    with pytest.raises(FileNotFoundError, match="tpudiag-fake"), open(hole, "rb"):  # noqa: PTH123
        raise AssertionError("a hole is no number of an open file")
    assert holes.batch_of(copy.deepcopy(holes.batched(8))) == 8
