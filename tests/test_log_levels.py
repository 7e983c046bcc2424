"""Which lines of a job's output were raised or logged, and which were printed."""

from tpudiag.log_levels import Level, said

TRACEBACK = """Traceback (most recent call last):
  File "train.py", line 4, in <module>
    import addons
ModuleNotFoundError: No module named 'addons'
"""
OUTPUT = f"""settings: {{'run_eagerly': False}}
optional feature off: no addons
{TRACEBACK}
INFO:root:tried without
{TRACEBACK}
WARNING:root:slow
  by far
2026-11-23 14:26:41.123456: E tensorflow/core/x.cc:12] lost
\t [[{{{{node x}}}}]]
step 2: loss 0.3 [no ERROR so far]
ERROR:root:gave up
{TRACEBACK}
During handling of the above exception, another exception occurred:

Traceback (most recent call last):
  File "train.py", line 9, in <module>
KeyError: 'x'

Process Worker-1:
{TRACEBACK}
done"""


def test_each_record_has_its_own_lines_and_level() -> None:
    found = [
        (level, *text.splitlines()[:: max(len(text.splitlines()) - 1, 1)])
        for level, text in said(OUTPUT)
    ]
    assert found == [
        (Level.CAUGHT, "Traceback (most recent call last):",
         "ModuleNotFoundError: No module named 'addons'"),
        (Level.WARNING, "WARNING:root:slow", "  by far"),
        (Level.ERROR, "2026-11-23 14:26:41.123456: E tensorflow/core/x.cc:12] lost",
         "\t [[{{node x}}]]"),
        (Level.ERROR, "ERROR:root:gave up", "KeyError: 'x'"),
        (Level.ERROR, "Process Worker-1:", "ModuleNotFoundError: No module named 'addons'"),
    ]  # fmt: skip
