"""A crash after the rehearsal changed something: tried again, and blamed on whom it is due to."""

import re
from dataclasses import replace
from typing import cast

import pytest

from tests.sources.job import programs
from tpudiag.diagnoses import second_try
from tpudiag.diagnoses.second_try import fitted, may_be_to_blame
from tpudiag.known_errors.catalogue import known_errors
from tpudiag.model import Location
from tpudiag.script_run import CodeFrame, Coverage, Crash, InterventionKind, UnreachedLines
from tpudiag.signals import JobEnd
from tpudiag.sources.job.process.following import JobRun
from tpudiag.sources.job.process.protocol import UP_TO_FIRST_STEP, JobSpec

CUT, STEPS = InterventionKind.PREDICTIONS, InterventionKind.STEPS
SPEC = programs.spec(lower_to="/lowered")
HERE = Location("train.py", 41)
DATA = ("gs://bucket/*.tfrec",)
AFTER = UnreachedLines("train.py", 41, 60, "frame = table.join(predicted)")


def crashed(
    *kinds: InterventionKind,
    error: str = "ValueError: 4 rows",
    at: Location = HERE,
    text: str = "table.join(predicted)",
    **facts: object,
) -> JobRun:
    crash = Crash(error, (CodeFrame(at, "<module>", text),), "Traceback ...")
    facts = {"batch": 1, "coverage": Coverage(end="crash")} | facts
    facts["end"] = JobEnd(how="exception", error=error, location=at, crash=crash)
    facts["interventions"] = [kind.value for kind in kinds]
    return JobRun(facts=facts, log_tail="epoch 1\nTraceback ...")


def ended(coverage: Coverage, **facts: object) -> JobRun:
    return JobRun(facts={"end": JobEnd(how="finished"), "coverage": coverage} | facts)


ELSEWHERE = crashed(error="ValueError", at=Location("train.py", 30))


def end_of(job: JobRun) -> JobEnd:
    end = job.facts["end"]
    assert isinstance(end, JobEnd)
    return end


def tried(first: JobRun, *tries: JobRun) -> tuple[JobRun, list[JobSpec]]:
    specs: list[JobSpec] = []

    def run(spec: JobSpec, why: str, most_s: float) -> JobRun:
        assert most_s >= second_try.AT_LEAST_S
        assert re.match(r"it crashed at train.py:\d+: once more without", why)
        specs.append(spec)
        return tries[len(specs) - 1]

    return second_try.judged(SPEC, first, run), specs


def test_what_goes_away_is_ours_and_the_rest_stands() -> None:
    job, (spec,) = tried(crashed(CUT, STEPS), ended(Coverage(end="whole")))
    assert spec.without == (CUT, STEPS), "all that it may be due to, at once"
    assert (spec.lower_to, spec.measure_input_s) == ("/lowered", SPEC.measure_input_s)
    assert second_try.crash_of(job) is None and job.facts["batch"] == 1
    told = cast("tuple[object, ...]", job.facts["misfits"])
    assert [str(each) for each in told] == [
        "The rehearsal's shortened predictions and repeated results of steps do not fit at "
        "train.py:41: it ran without. The error: ValueError: 4 rows"
    ]


def test_what_the_first_try_has_shown_is_not_measured_again() -> None:
    first = crashed(CUT, lowered=[], coverage=Coverage(end="crash", rest_s=3.0))
    job, (spec,) = tried(first, ended(Coverage(end="whole"), batch=2))
    assert (spec.lower_to, spec.measure_input_s) == ("", 0.0)
    assert job.facts["batch"] == 1 and job.facts["end"] == JobEnd(how="finished")


def test_what_stays_is_the_scripts() -> None:
    job, specs = tried(crashed(CUT, STEPS), crashed(STEPS))
    assert [spec.without for spec in specs] == [(CUT, STEPS)], "one second try"
    assert second_try.crash_of(job) is not None and job.facts["misfits"] == ()


def test_another_exception_at_the_same_place_is_not_the_scripts() -> None:
    first = "InvalidArgumentError: Inputs to AddN must have the same shape. Input 0 != input 6"
    for error, same in (
        (first.replace("6", "3"), True),
        ("InvalidArgumentError: input depth must be divisible by filter depth: 3 vs 32", False),
    ):
        job, _ = tried(crashed(InterventionKind.ROWS, error=first), crashed(error=error))
        assert (second_try.crash_of(job) is not None) is same


def test_an_exception_behind_one_that_went_away_is_tried_for_itself() -> None:
    later = Location("train.py", 50)
    stopped = Coverage(end="crash", stopped_at=later)
    behind = crashed(STEPS, error="KeyError: 'loss'", at=later, coverage=stopped)
    job, specs = tried(crashed(CUT), behind, ended(Coverage(end="whole")))
    assert [spec.without for spec in specs] == [(CUT,), (CUT, STEPS)]
    assert second_try.crash_of(job) is None
    assert len(cast("tuple[object, ...]", job.facts["misfits"])) == 2


def test_what_was_not_tried_in_time_is_not_blamed_on_the_script() -> None:
    before = ended(Coverage(end="budget", stopped_at=Location("train.py", 20), unreached=(AFTER,)))
    for late in (before, JobRun(timed_out="the job took longer than 480 s (--timeout)")):
        job, _ = tried(crashed(STEPS), late)
        assert end_of(job).how == "unsupported"
        assert end_of(job).error == "the rehearsal's repeated results of steps may not fit"
        assert "ValueError: 4 rows" in str(job.facts["misfits"])
        assert job.log_tail == "epoch 1\n" and job.timed_out is None
    behind = ended(Coverage(end="budget", stopped_at=Location("train.py", 50)))
    job, _ = tried(crashed(STEPS), behind)
    assert second_try.crash_of(job) is None, "it came past the statement"


def test_types_and_shapes_are_not_of_what_spares_time() -> None:
    unbuilt = "KeyError: 'The optimizer cannot recognize variable dense/kernel:0. This usually'"
    shapes = "ValueError: Shapes (5,) and (4,) are incompatible"
    for error in ("TypeError: 'int' object", shapes, unbuilt):
        job, specs = tried(crashed(STEPS, error=error))
        assert not specs and second_try.crash_of(job) is not None
        job, specs = tried(crashed(CUT, STEPS, error=error), crashed(STEPS, error=error))
        assert len(specs) == 1 and second_try.crash_of(job) is not None


@pytest.mark.parametrize(
    ("call", "of_code"),
    [
        ("plot(dates, prices)", True),
        ("plot(*columns)", False),
        ("plot(dates,", False),
        ("rows.apply(plot)", False),
    ],
)
def test_a_form_of_call_that_the_release_refuses_is_of_the_code(call: str, of_code: bool) -> None:
    error = "TypeError: plot() takes from 0 to 1 positional arguments but 2 were given"
    job, _ = tried(crashed(InterventionKind.DATA, error=error, text=call, stood_in=DATA))
    assert (second_try.crash_of(job) is not None) is of_code


def test_an_exception_of_the_code_itself_is_not_tried_again() -> None:
    for error in ("NameError: name 'x'", "AttributeError: module 'tensorflow' has no attribute"):
        job, specs = tried(crashed(CUT, error=error))
        assert not specs and second_try.crash_of(job) is not None
    for error in ("NameError: name 'x'", "AttributeError: 'NoneType' object has no attribute 'x'"):
        _, (spec,) = tried(crashed(InterventionKind.ROUNDS, STEPS, error=error), crashed())
        assert spec.without == (InterventionKind.ROUNDS,), "a loop may not have come to it"
    mixed = "RuntimeError: Mixing different tf.distribute.Strategy objects: <a> is not <b>"
    job, specs = tried(crashed(InterventionKind.REPLICAS, error=mixed))
    assert not specs and second_try.crash_of(job) is not None, "no length of data makes a scope"
    away = "FailedPreconditionError: Couldn't resolve host name, reading metadata of gs://b/model"
    job, specs = tried(crashed(CUT, error=away))
    assert not specs and second_try.crash_of(job) is not None, "no net is there in any try"
    job, specs = tried(crashed())
    assert not specs, "nothing was changed"


def test_a_job_that_was_cut_by_time_says_what_failed() -> None:
    late = "the job took longer than 480 s (--timeout)"
    end = end_of(crashed())
    job = JobRun(timed_out=late)
    second_try.say_what_failed(job, end)
    assert job.timed_out == f"{late}; the try before it crashed: ValueError: 4 rows (train.py:41)"
    job = JobRun(timed_out=late, facts={"came_to": end})
    second_try.say_what_failed(job, None)
    assert job.timed_out == f"{late}; it had crashed: ValueError: 4 rows (train.py:41)"
    apart = crashed(error="RuntimeError: `merge_call` called while defining a new graph")
    for came_to in (JobEnd(how="finished"), end_of(apart)):
        job = JobRun(timed_out=late, facts={"came_to": came_to})
        second_try.say_what_failed(job, None)
        assert job.timed_out == late, "CPU replicas' own is not told as the script's"


def test_what_cannot_be_left_out_is_not_blamed_on_the_script() -> None:
    layout = "InvalidArgumentError: Default MaxPoolingOp only supports NHWC on device type CPU"
    job, specs = tried(crashed(STEPS, error=layout))
    assert not specs
    assert (end_of(job).how, end_of(job).error) == (
        "unsupported",
        "the rehearsal's CPU replicas may not fit",
    )
    made_up = crashed(STEPS, InterventionKind.DATA, error="KeyError: 'f7'", stood_in=DATA)
    job, specs = tried(made_up)
    assert not specs and end_of(job).error == "the rehearsal's stand-ins for data may not fit"
    shape = 'ValueError: Input 0 of layer "model" is incompatible with the layer: expected '
    error = f"{shape}shape=(None, 64), found shape=(72, 512)"
    for asked, is_own in ((512, True), (64, False)):  # the script parses to this shape, or not
        parsed = crashed(InterventionKind.DATA, error=error, stood_in=DATA, asked_sizes=[asked])
        assert (second_try.crash_of(tried(parsed)[0]) is not None) is is_own
    error = (
        'ValueError: in user code:\n\n    File "/site-packages/keras/src/utils/traceback_utils.py"'
        ", line 70, in error_handler\n        raise e\n    ValueError: Depth of input (9) is not a "
        "multiple of that of the filter (3), with input shapes: [4,32,32,9], [1,1,3,8]."
    )
    for chosen, is_own in ((32, False), (16, True)):  # the rehearsal chose this size, or not
        of_layer = crashed(InterventionKind.DATA, error=error, stood_in=DATA, chosen_sizes=[chosen])
        assert (second_try.crash_of(tried(of_layer)[0]) is not None) is is_own
    kinds = "InvalidArgumentError: Value for attr 'T' of int64 is not in the list of allowed values"
    both = InterventionKind.DATA, InterventionKind.HOLES
    for own in ("", kinds.partition(": ")[2]):
        of_step = crashed(*both, error=kinds, stood_in=DATA, own_error=own)
        assert (second_try.crash_of(tried(of_step)[0]) is not None) == bool(own), "as the job saw"
    job, _ = tried(crashed(error="KeyError: 'f7'", stood_in=DATA))
    assert second_try.crash_of(job) is not None, "no value of them came to it"


def test_what_only_cpu_replicas_need_is_left_out_where_there_is_nothing_else() -> None:
    early = InterventionKind.EARLY
    job, specs = tried(crashed(CUT, early), crashed(early))
    assert [spec.without for spec in specs] == [(CUT,)] and second_try.crash_of(job) is not None
    job, specs = tried(crashed(early), ended(Coverage(end="whole")))
    assert [spec.without for spec in specs] == [(early,)]
    assert second_try.crash_of(job) is None, "without it the job ran"
    job, _ = tried(crashed(early), ELSEWHERE)
    assert second_try.crash_of(job) == crashed().facts["end"], "a CPU fails without: undecided"
    assert job.facts["misfits"] == ()


def test_steps_that_were_taken_one_by_one_may_end_data_that_several_would_not() -> None:
    single = InterventionKind.SINGLE_STEPS
    job, specs = tried(crashed(single, error="StopIteration: "), ELSEWHERE)
    assert [spec.without for spec in specs] == [(single,)]
    assert end_of(job).error == "the rehearsal's single steps per execution may not fit"
    job, specs = tried(crashed(single, error="TypeError: float() argument"))
    assert not specs and second_try.crash_of(job) is not None, "no number of steps brings it about"
    gather = (
        "InvalidArgumentError: Graph execution error:\n\nindices[12,15] = 4096 is not in [0, 4096)"
    )
    job, specs = tried(crashed(single, error=gather))
    assert not specs and second_try.crash_of(job) is not None
    assert tried(crashed(STEPS, single, error=gather), crashed())[1][0].without == (STEPS,)


def test_a_try_for_fewer_replicas_tells_how_it_ended_and_nothing_of_steps() -> None:
    second = ended(Coverage(end="whole"), batch=2, own=3)
    job, (spec,) = tried(crashed(InterventionKind.REPLICAS), second)
    assert spec.without == (InterventionKind.REPLICAS,)
    assert second_try.crash_of(job) is None
    assert (job.facts["batch"], job.facts["own"]) == (1, 3)


def test_what_no_try_can_be_without_is_not_blamed_on_the_script() -> None:
    traced = InterventionKind.TRACED
    job, specs = tried(crashed(traced, error="ZeroDivisionError: float division by zero"))
    assert not specs
    assert end_of(job).error == "the rehearsal's functions traced and not run may not fit"
    symbols = "TypeError: in user code:\n\n    'NoneType' object is not subscriptable"
    names = "KeyError: 'Failed to format: {val_top_accuracy:.4f}. Reason: \\'val_top_accuracy\\''"
    for error in (symbols, names):
        assert second_try.crash_of(tried(crashed(traced, error=error))[0]) is not None
    missing = "NotFoundError: TPUs not found in the cluster"
    job, specs = tried(crashed(InterventionKind.DEFECT, error=missing))
    assert not specs and second_try.crash_of(job) is None
    hole = InterventionKind.HOLES
    older = "ValueError: Argument(s) not recognized: {'lr': 0.1}"
    job, specs = tried(crashed(hole, error=older))
    assert not specs and second_try.crash_of(job) is not None, "no data brings that about"


EXAMPLES = {error.id: error.example for error in known_errors()}


@pytest.mark.parametrize(
    ("id_", "to_blame"),
    [
        ("E130", True),  # a parse function's features
        ("E576", True),  # no texts behind a slice
        ("E733", True),  # fields of records
        ("E122", True),  # weights of other shapes
        ("E163", True),  # numbers of another type
        ("P152", True),  # words in an array, though it tells of an older Keras
        ("E139", False),  # a model outside the scope
        ("E142", False),  # a call in the wrong context
        ("E134", False),  # Python in a pipeline for a worker, whatever it reads
        ("E950", False),  # a draw without a seed, which tracing refuses
    ],
)
def test_of_known_errors_those_that_values_sizes_and_types_bring_about(
    id_: str, to_blame: bool
) -> None:
    assert may_be_to_blame(EXAMPLES[id_], DATA) is to_blame
    assert not may_be_to_blame(EXAMPLES[id_], ())


def test_of_files_those_that_were_stood_in_for() -> None:
    missing = "words_converter/{saved_model.pbtxt|saved_model.pb}"
    error = f"OSError: SavedModel file does not exist at: {missing}"
    assert may_be_to_blame(error, ("https://example.org/models/words_converter.zip",))
    assert not may_be_to_blame(error, ("https://example.org/models/other_converter.zip",))
    inside = "IsADirectoryError: [Errno 21] Is a directory: '/tmp/job-1/fake-data/archives/a'"
    assert may_be_to_blame(inside, ("a.zip",))


def test_errors_that_nobody_knows_unless_they_are_of_the_code() -> None:
    assert may_be_to_blame("AttributeError: 'NoneType' object has no attribute 'group'", DATA)
    assert may_be_to_blame("KeyError: 'f7'", DATA)
    unpacked = "TypeError: Cannot iterate over a Tensor with unknown first dimension."
    assert may_be_to_blame(unpacked, DATA)
    assert not may_be_to_blame("NameError: name 'i' is not defined", DATA)
    assert not may_be_to_blame("AttributeError: module 'tensorflow' has no attribute 'x'", DATA)
    removed = "AttributeError: 'Mean' object has no attribute 'reset_states'"
    assert not may_be_to_blame(removed, DATA)
    named = "The filepath provided must end in `.keras` (Keras model format). Received: best.h5"
    assert not may_be_to_blame(f"ValueError: {named}", DATA)
    gone = "Triggering __jax_array__() during abstractification is no longer supported."
    assert not may_be_to_blame(f"ValueError: {gone} To avoid this error, convert it.", DATA)
    assert may_be_to_blame("ValueError: the row is longer than 8", DATA)


EARLY: dict[str, object] = {"phase": UP_TO_FIRST_STEP}


def test_fewer_replicas_where_the_job_said_so_or_was_killed_before_its_first_step() -> None:
    two = fitted(SPEC, JobRun(facts={"fitting_replicas": 2}))
    assert two is not None and two.real_replicas == 2
    killed = JobRun(facts=EARLY, exit_code=-9)
    one = fitted(SPEC, killed)
    assert one is not None and one.real_replicas == 1
    assert fitted(one, killed) is None
    assert fitted(SPEC, replace(killed, interrupted=True)) is None
    assert fitted(SPEC, JobRun(facts={"end": {"how": "stopped"}})) is None
    short = JobRun(facts=EARLY, timed_out="399 MiB of memory left", short_of_memory=True)
    assert fitted(SPEC, short) == one and fitted(one, short) is None
    assert fitted(SPEC, replace(short, short_of_memory=False)) is None


def test_one_replica_where_several_cannot_meet() -> None:
    apart = crashed(error="RuntimeError: `merge_call` called while defining a new graph")
    one = fitted(SPEC, apart)
    assert one is not None and one.real_replicas == 1
    assert fitted(one, apart) is None
    assert fitted(SPEC, crashed()) is None
