"""Loops of a script's own that take more than their share."""

from pathlib import Path

from tpudiag.sources.job.points import interventions
from tpudiag.sources.job.tensorflow.shortening import loop_rewriting
from tpudiag.sources.job.tensorflow.shortening.script_loops import ScriptLoops

SCRIPT = """\
seen, twice, rows = [], [], 0
for number in range(1000):
    took(1)
    seen.append(number)
    twice += [number, number]
    rows += 1
made = [took(4) or number for number in range(50)]
forever = 0
while True:
    forever += 1
    took(1)
step = 0
while step < 500:
    took(1)
    step += 1
def counted():
    count, total = 0, 0.0
    for number in range(100):
        took(1)
        count += 1
        total += 0.5
    return count, total
counted = counted()
until = 0
while until < 3:
    until += 1
class Search:
    def found(self):
        for number in range(100):
            took(1)
            if number == 99:
                return number
found = Search().found()
"""


def _ran(
    folder: Path, text: str = SCRIPT, *, builds: bool = False
) -> tuple[dict[str, object], ScriptLoops]:
    """What a script sets that has 160 s of its time left at every moment."""
    now = [0.0]

    def took(seconds: float) -> None:
        now[0] += seconds

    interventions.begin()
    loops = ScriptLoops(lambda: now[0], lambda: now[0])
    loops.left_s, loops.began_s = (lambda: 160.0), 0.0
    loops.work = lambda: (int(builds * now[0]), 0)
    file = folder / "train.py"
    file.write_text(text)
    space: dict[str, object] = {"took": took}
    exec(compile(loop_rewriting.rewritten(loops, text, str(file), space), str(file), "exec"), space)
    interventions.begin()
    return space, loops


def test_a_loop_that_took_its_share_goes_to_its_last_round_and_its_lists_are_filled(
    tmp_path: Path,
) -> None:
    space, loops = _ran(tmp_path)
    assert space["rows"] == 1000 and space["step"] == 500
    assert space["counted"] == (100, 50.0)
    assert space["seen"] == [*range(11), *[10] * 988, 999]
    assert len(str(space["twice"]).split(",")) == 2000
    assert space["made"] == [0, 1, 2, 49, *[49] * 46]
    assert space["forever"] == 11 and space["until"] == 3
    assert space["found"] == 99, "a search goes on to what it looks for"
    first = loops.shortened[0]
    assert (first.kind, first.ran, first.asked) == ("rounds of a loop", 12, 1000)
    assert first.location is not None and first.location.line == 2


AS_IT_WAS = """\
def names(function):
    return function.__code__.co_names
@names
def found():
    for number in range(3):
        pass
given, rounds, error = names(lambda: [each for each in range(3)]), 0, None
class Epoch:
    at = 0
    def __iter__(self):
        return self
    def __next__(self):
        self.at = (self.at + 1) % 70
        if not self.at:
            raise StopIteration
        return self.at
for batch in Epoch():
    rounds += 1
def records():
    for number in range(100):
        yield took(1) or 1 / (50 - number)
try:
    for record in records():
        pass
except ZeroDivisionError as raised:
    error = raised
"""


def test_code_that_others_read_iterators_that_begin_anew_and_errors_are_as_they_were(
    tmp_path: Path,
) -> None:
    space, _ = _ran(tmp_path, AS_IT_WAS)
    assert space["found"] == space["given"] == ("range",)
    assert space["rounds"] == 69
    assert space["error"] is not None


def test_a_loop_that_builds_a_model_is_left_alone(tmp_path: Path) -> None:
    space, loops = _ran(tmp_path, "for layer in range(100):\n    took(1)\n", builds=True)
    assert space["layer"] == 99 and not loops.shortened


def test_a_loop_inside_of_another_has_half_of_its_share(tmp_path: Path) -> None:
    inner = "    for b in range(100):\n        took(1)\n        rounds.add((a, b))\n"
    text = f"rounds = set()\nfor a in 1, 2:\n{inner}"
    space, _ = _ran(tmp_path, text)
    assert str(space["rounds"]).count("(") == 2 * 7
