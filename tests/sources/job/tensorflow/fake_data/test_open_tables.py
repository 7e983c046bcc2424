"""Tables whose columns are made when they are asked for, in whatever way."""

# pyright: reportUnknownMemberType=false, reportUnknownArgumentType=false
# pyright: reportUnknownVariableType=false, reportUnknownLambdaType=false
import builtins
import json
import pathlib
import pickle
from collections.abc import Callable
from importlib import import_module
from typing import Any

import pytest

from tpudiag.sources.job.tensorflow.fake_data import open_columns, open_tables, open_values

pytestmark = pytest.mark.slow

np = pytest.importorskip("numpy")


@pytest.fixture
def read(monkeypatch: pytest.MonkeyPatch) -> Callable[..., Any]:
    """Makes a table; what asks it is the user's."""
    pd = pytest.importorskip("pandas")
    for module in (open_columns, open_tables, open_values):
        monkeypatch.setattr(module, "by_user", lambda: True)
    return lambda **options: open_tables.make(pd, 512, options)


class Settings:
    """Where scripts keep the names of columns."""

    target = "mood"


@pytest.mark.parametrize(
    "asked",
    [
        lambda t: t[{"target": "rust"}["target"]].values,
        lambda t: t[Settings.target],
        lambda t: t[[f"feature_{k}" for k in range(5)]].to_numpy(),
        lambda t: t[list("ab")],
        lambda t: t.label,
        lambda t: t.loc[:, "rust":"scab"],
        lambda t: t.loc[t.fold != 0, "name"],
        lambda t: t.iloc[:, 7],
        lambda t: t.at[5, "text"].split(),
        lambda t: t.drop(columns=["label"]),
        lambda t: t.groupby("group")["size"].sum(),
        lambda t: t.sample(n=35_000).reset_index(drop=True)["text"][34_999],
        lambda t: t.groupby(["group"]).agg({"size": "mean"}),
        lambda t: t.merge(t.copy()[["key"]], on="key"),
        lambda t: t.merge(t.copy()[["a"]], on=["a", "b"], how="left")["a"],
        lambda t: t.merge(t.set_index("item_id")[["c"]], left_on="item", right_index=True),
        lambda t: t[["user_id", "b"]].corr(),
        lambda t: import_module("pandas").to_datetime(t["when"]).dt.month,
        lambda t: t.day.dt.year,
        lambda t: t.grey.str.split().apply(lambda row: np.array(row, "float32")),
        lambda t: t["file_name"].str.split("_").str[-1].astype(int) + 1,
        lambda t: t.groupby("shop").sales.sum(),
        lambda t: range(int(t["class_id"].max()) + 1),
        lambda t: range(t["class_id"].max() + 1),
        lambda t: t["size"].rolling(3).mean(),
        lambda t: t.query("grade >= 0"),
        lambda t: t.sort_values("when").reset_index(drop=True)["other"],
        lambda t: [row["text"].split() for _, row in t.iterrows()],
        lambda t: [row.path + ".jpg" for row in t.itertuples()],
        lambda t: t.apply(lambda row: row["first"] + row.second, axis=1),
        lambda t: import_module("pandas").concat([t, t])["both"],
        lambda t: t.pop("target"),
        lambda t: t.filter(["Close"])["Close"],
        lambda t: t.set_index("id").loc["file-00003"]["text"],
    ],
)
def test_a_column_is_there_however_it_is_named(
    read: Callable[..., Any], asked: Callable[[Any], Any]
) -> None:
    assert len(asked(read())) > 0


def test_rows_hold_what_a_column_is_compared_with(read: Callable[..., Any]) -> None:
    table = read()
    parts = [table[table["split"] == name] for name in ("train", "test")]
    assert [set(part.split) for part in parts] == [{"train"}, {"test"}]
    assert len(table[~table.split.isin(["train", "test"])]) > 0
    assert table["emotion"].map({"neg": 0, "pos": 1}).notna().any()
    assert set(table["mood"].replace({"good": 7, "bad": 8})) >= {7, 8}
    assert (table["a"] == table["b"]).all()
    counts = table["sort"].value_counts()
    assert counts.benign + counts["malignant"] > 1 and counts[0] > counts.max() / 2
    assert 0 < table.sort.value_counts(normalize=True)["malignant"] < 1


def test_a_key_is_once_in_a_table_that_is_put_beside(read: Callable[..., Any]) -> None:
    shops = read()
    for on in (
        {"on": "shop"},
        {"on": ["shop", "day"], "how": "left"},
        {"left_on": "a", "right_on": "b"},
    ):
        assert len(read().merge(shops, **on)) == 512


def test_values_are_of_the_kind_that_a_use_needs(read: Callable[..., Any]) -> None:
    table = read()
    assert ("../" + table["which"] + ".png").iloc[0].startswith("../")
    assert table["said"].str.len().max() > 0
    assert len(table["pixels"].apply(lambda text: [float(each) for each in text.split()])) == 512
    assert table["path"].astype("int64").max() > 0
    table["own"] = "mine"
    assert set(table["own"]) == {"mine"}


@pytest.mark.parametrize(
    "used",
    [
        lambda t: [int(part) for part in t["x"][0].split(",")],
        lambda t: [text.lower() for text in t.excerpt.values],
        lambda t: [text[:3] + text.strip() for text in t["x"]],
        lambda t: [t["x"].values[0] / 2 - 1 + round(t["y"].tolist()[2], 1)],
        lambda t: str(pathlib.Path("a") / t["x"][5]) + ("b" + t["y"][1]),
        lambda t: [row["x"].split() for _, row in t.iterrows()],
        lambda t: t.apply(lambda row: len(row["x"].split()), axis=1),
        lambda t: t.iloc[4]["x"].upper(),
        lambda t: t.loc[4, "x"].split(),
    ],
)
def test_a_single_value_is_a_number_or_its_digits(
    read: Callable[..., Any], used: Callable[[Any], Any]
) -> None:
    table = read()
    assert len(used(table)) > 0
    held = table["x"].tolist()
    assert pickle.loads(pickle.dumps(held)) == held and np.array(held).ndim == 1
    assert not hasattr(table["x"].nunique(), "__len__"), "to TensorFlow it would be a list"
    names = table["id"].tolist()
    assert type(pickle.loads(pickle.dumps(names))[0]) is str
    assert names[1] + ".jpg" == "file-00001.jpg" and [*"ab"][names[1]] == "b" and names[1] + 1 == 2
    assert np.array(names).dtype.kind == "U" and json.dumps(names[:1]) == '["file-00000"]'


def test_rows_are_as_wide_as_the_shape_that_is_asked_of_them(read: Callable[..., Any]) -> None:
    pictures = (read().drop("label", axis=1) / 255.0).values.reshape(-1, 28, 28, 1)
    assert pictures.shape == (512, 28, 28, 1) and pictures[:9].mean() >= 0
    assert read().values.reshape((60, 32, 32)).shape == (60, 32, 32)
    assert read()["label"].values.reshape(-1, 1).shape == (512, 1)
    assert read()[["level"]].values.reshape(-1, 64).shape == (8, 64)
    assert read()[["a", "b", "c"]].values.reshape(-1, 64, 3).shape == (8, 64, 3)


def test_a_table_is_read_as_pandas_is_told(read: Callable[..., Any]) -> None:
    assert builtins.list(read(names=["u", "v"]).columns) == ["u", "v"]
    assert read(index_col="item_id").index.name == "item_id"
    assert read(parse_dates=["when"])["when"].max() - import_module("pandas").Timedelta(days=1)
    assert read(nrows=9).shape[0] == 9 and next(read(chunksize=5)).label.sum() > 0
