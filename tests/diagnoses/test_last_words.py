"""What a process said last: arguments that lack, a fatal line, or what the script printed."""

import pytest

from tpudiag.diagnoses.last_words import of_exit

NOISE = (
    "WARNING: All log messages before absl::InitializeLog() is called are written to STDERR\n"
    "I0000 00:00:1.2 7 cpu_feature_guard.cc:227] This binary is optimized\n"
    "2026-01-02 03:04:05.6: I tensorflow/core/platform/cpu.cc:1] oneDNN is on\n"
)


@pytest.mark.parametrize(
    ("tail", "said"),
    [
        (NOISE, "exit code 2"),
        (NOISE + "no data\n" + NOISE, "exit code 2, its last words: no data"),
        (
            "usage: t.py [-h] --data DATA\nt.py: error: the following arguments are required: --d",
            "exit code 2, its last words: t.py: error: the following arguments are required: --d"
            " (the script's own arguments stand behind `--`)",
        ),
        (
            "FATAL Flags parsing error: flag --d=None: must be given.\n"
            "Pass --helpshort to see help.",
            "exit code 2, its last words: FATAL Flags parsing error: flag --d=None: must be given."
            " (the script's own arguments stand behind `--`)",
        ),
        (
            "F0000 a.cc:1] Check failed: x\n    @ 0x1 main\n",
            "exit code 2, its last words: F0000 a.cc:1] Check failed: x",
        ),
    ],
)
def test_the_end_is_told_by_the_line_that_says_most(tail: str, said: str) -> None:
    assert of_exit(tail, 2) == said
