"""The columns that a script asks its tables for."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import pytest

from tpudiag.sources.job.tensorflow.fake_data import tables
from tpudiag.sources.job.tensorflow.fake_data.ledger import Ledger
from tpudiag.sources.job.tensorflow.fake_data.table_columns import Column, asked, read_at

MEMBERS = {"apply", "values", "groupby", "loc", "iterrows", "sample", "head", "merge", "iloc"}


def names(text: str) -> list[str]:
    return [column.name for column in asked([text], MEMBERS.__contains__)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("t = pd.read_csv('a.csv')\nx = t['path'] + '.jpg'\ny = t.label.values", ["path", "label"]),
        ("t = pd.read_csv('a.csv')\ny = t[['rust', 'scab']].values", ["rust", "scab"]),
        ("t = pd.read_csv('a.csv')\ny = t.loc[:, 'rust':'scab']", ["rust", "scab"]),
        ("t = pd.read_csv('a.csv', usecols=['a', 'b'])", ["a", "b"]),
        ("a = pd.read_csv('a')\nb = pd.read_csv('b')\na['x'] = 1\nz = b['x']", ["x"]),
        ("t = pd.read_csv('a.csv').sample(3)\nu = t.groupby('group')", ["group"]),
        ("c = ['a', 'b']\nt = pd.read_csv('a.csv')\ny = t[c]", ["a", "b"]),
        ("t = pd.read_csv('a.csv')\nfor i, row in t.iterrows():\n  x = row['text']", ["text"]),
        ("def f(row):\n  return row.text\nt = pd.read_csv('a.csv')\nt.apply(f)", ["text"]),
        ("def f(d):\n  return d['x']\nt = pd.read_csv('a.csv')\nf(t)", ["x"]),
        ("t = pd.concat([pd.read_csv('a'), pd.read_csv('b')])\nx = t['x']", ["x"]),
    ],
)
def test_columns_are_those_that_the_script_reads(text: str, expected: list[str]) -> None:
    assert names(text) == expected


def test_a_column_that_the_script_makes_is_its_own() -> None:
    text = "t = pd.read_csv('a.csv')\nt['made'] = t['given'] * 2\nprint(t['made'])"
    assert names(text) == ["given"]
    assert names("t = pd.read_csv('a.csv')\nt['x'] = t['x'].round()") == ["x"]


def test_what_is_no_table_has_no_columns() -> None:
    assert names("example = parse(record)\nx = example['image']\nd = {}\nd['k']") == []
    assert names("this is no Python (") == []


def test_values_are_those_that_the_script_compares_with() -> None:
    text = "t = pd.read_csv('a.csv')\nx = t[t['split'] == 'train']\ny = t[t['split'] == 'test']"
    (column,) = asked([text], MEMBERS.__contains__)
    assert set(tables.values(column, 8)) == {"train", "test"}


def test_values_are_of_the_kind_that_a_name_tells() -> None:
    assert all(isinstance(each, str) for each in tables.values(Column("comment_text"), 4))
    assert len(set(tables.values(Column("image_id"), 4))) == 4
    assert set(tables.values(Column("target"), 8)) == {0, 1}
    assert set(tables.values(Column("label"), 20, 10)) == set(range(10))
    assert set(tables.values(Column("fold"), 10)) == {0, 1, 2, 3, 4}


def test_days_lie_between_those_that_the_script_compares_with() -> None:
    text = "t = pd.read_csv('a.csv')\nx = t[(t.Date >= '1999-10-20') & (t.Date < '2020-04-22')]"
    (column,) = asked([text], MEMBERS.__contains__)
    days = tables.values(column, 100)
    assert days == sorted(days)
    assert len(set(days)) == 100
    assert days[0] == "1999-10-20" < days[-1] < "2020-04-22"


def test_what_is_given_to_a_tokenizer_is_text() -> None:
    text = (
        "t = pd.read_csv('a.csv')\n"
        "x = tokenizer.encode_plus(t.loc[k, 'mood'], t.loc[k, 'place'].strip(), max_length=3)\n"
        "y = t.loc[k, 'size']"
    )
    used = {each.name: each.is_text for each in asked([text], lambda name: name in {"loc"})}
    assert used == {"mood": True, "place": True, "size": False}


def test_what_is_followed_over_days_has_each_of_them() -> None:
    dates = tables.values(Column("date"), 6)
    assert list(zip(dates, tables.values(Column("symbol"), 6), strict=True)) == [
        (day, symbol) for day in dict.fromkeys(dates) for symbol in (0, 1)
    ]


def test_tables_of_one_line_have_columns_of_their_own() -> None:
    text = "a = pd.read_csv('a.csv')\nb = pd.read_csv('b.csv')\nx = a['x']\ny = b['y']"
    assert [c.name for c in asked([text], MEMBERS.__contains__, (2,))] == ["y"]
    assert read_at([text], 2) == (2,)
    assert read_at(["def f():\n  return pd.read_csv('a.csv')"], 2) == ()


def test_a_sample_is_no_larger_than_what_stands_in_for_a_table(tmp_path: Path) -> None:
    class DataFrame:
        def __len__(self) -> int:
            return 5

        def sample(self, n: int | None = None, replace: bool = False) -> tuple[int | None, bool]:
            return n, replace

        def to_csv(self) -> None: ...

        to_json = to_pickle = to_parquet = to_csv

    def put(**_: object) -> None:
        """Nobody asks what was stood in for."""

    ledger = Ledger(str(tmp_path), put)
    pandas = SimpleNamespace(DataFrame=DataFrame)
    tables.install(pandas, ledger, lambda _: False)
    assert DataFrame().sample(8000) == (8000, False)
    ledger.note("a.csv")
    assert DataFrame().sample(8000) == (5, False)
    assert DataFrame().sample(8000, replace=True) == (8000, True)
    assert DataFrame().sample() == (None, False)


def test_a_value_that_is_excluded_is_not_the_only_one() -> None:
    text = "t = pd.read_csv('a.csv')\na = t[t['by'] == 'one']\nb = t[t['by'] != 'one']\n"
    (column,) = asked([text], lambda _: False)
    assert column.compared == ["one", "one", "another"]


def test_columns_that_a_generator_of_pictures_is_told() -> None:
    text = (
        "t = pd.read_csv('a.csv')\nt['path'] = t.image + '.jpg'\n"
        "given = dict(dataframe=t, x_col='path', y_col='grade', batch_size=8)\n"
    )
    assert [column.name for column in asked([text], lambda _: False)] == ["image", "grade"]


def test_a_column_and_those_that_follow_are_as_many_as_classes() -> None:
    (column,) = asked(["t = pd.read_csv('a.csv')\ny = t.loc[:, 'healthy':].values"], lambda _: True)
    rest = tables._with_rest([column, Column("id")], 4)  # pyright: ignore[reportPrivateUsage]
    assert [each.name for each in rest] == ["id", "healthy", "healthy 2", "healthy 3", "healthy 4"]
    plain = [Column("id")]
    assert tables._with_rest(plain, 4) is plain  # pyright: ignore[reportPrivateUsage]
