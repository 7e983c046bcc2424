"""What of a script's main flow lies ahead of the line at which it stands."""

from pathlib import Path

import pytest

from tpudiag.sources.job.points import main_flow

SCRIPT = """\
import os
model = build()
for epoch in range(3):
    train(model)
    validate(model)
try:
    evaluate(model)
except OSError:
    print("no data")
finally:
    clean()
if os.name:
    save(model)
    export(model)
print("done")
"""
FUNCTION = """\
@decorated
def main():
    first()
    with scope():
        second()
        third()
    fourth()

def later():
    pass

main()
last()
"""


def texts(source: str, first_line: int, line: int) -> tuple[list[str], bool]:
    rest, in_loop = main_flow.after(source, first_line, line)
    return [text for _, _, text in rest], in_loop


@pytest.mark.parametrize(
    ("line", "rest", "in_loop"),
    [
        (2, ["for epoch in range(3):", "try:", "if os.name:", 'print("done")'], False),
        (4, ["try:", "if os.name:", 'print("done")'], True),
        (7, ["if os.name:", 'print("done")', "clean()"], False),
        (9, ["if os.name:", 'print("done")', "clean()"], False),
        (13, ['print("done")', "export(model)"], False),
        (15, [], False),
    ],
)
def test_what_follows_in_a_module(line: int, rest: list[str], in_loop: bool) -> None:
    assert texts(SCRIPT, 0, line) == (rest, in_loop)


def test_what_follows_in_a_function_and_around_its_call() -> None:
    assert texts(FUNCTION, 1, 5) == (["fourth()", "third()"], False)
    assert texts(FUNCTION, 0, 12) == (["last()"], False)


def test_frames_are_read_outside_in_until_a_loop(tmp_path: Path) -> None:
    script = tmp_path / "train.py"
    script.write_text(
        "def run():\n    step()\n    after_step()\n\nfor _ in range(2):\n    run()\nsave()\n"
    )
    file = str(script)
    in_loop = main_flow.unreached([(file, 0, 6), (file, 1, 2)])
    assert [(u.first_line, u.text) for u in in_loop] == [(7, "save()")]
    alone = main_flow.unreached([("/usr/lib/python3/runpy.py", 1, 9), (file, 1, 2)])
    assert [(u.first_line, u.last_line) for u in alone] == [(3, 3)]


def test_the_frames_of_a_stack_and_of_a_traceback() -> None:
    def inner() -> None:
        raise ValueError

    with pytest.raises(ValueError) as caught:
        inner()
    frames = main_flow.frames_of_traceback(caught.value.__traceback__)
    assert [first for _, first, _ in frames][-1] == inner.__code__.co_firstlineno
