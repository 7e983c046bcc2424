"""The size of an allocation tells whether memory is short at all."""

from tpudiag.known_errors.readings.hbm_usage import on_host as read


def test_nonsense_is_no_lack_of_memory() -> None:
    reading = read({"bytes": "377396076847104"}, "tcmalloc:largealloc")
    assert reading is not None and "Memory is not short" in reading.cause


def test_large_piece_is_an_array_held_whole() -> None:
    reading = read({"bytes": str(5 << 30)}, "tcmalloc:largealloc")
    assert reading is not None and "5.0 GiB" in reading.cause
    assert read({"bytes": "1024"}, "tcmalloc") is None
    assert read({}, "Killed") is None
