"""What the first lines of a job's report say beside its findings."""

from datetime import UTC, datetime

from tests.sources.job.programs import THIS_PYTHON
from tpudiag.compiled import CompilerFacts
from tpudiag.diagnoses import job_report, job_summary
from tpudiag.diagnoses.job_request import JobRequest
from tpudiag.hardware import target
from tpudiag.model import Framework
from tpudiag.signals import JobEnd, Origin, Signals, TpuAttempt
from tpudiag.signals.environment import JobEndKind
from tpudiag.signals.training_loop import GpuUse, TrainingLoop
from tpudiag.sources.compiler.compile_step import CompilerRequest
from tpudiag.sources.job.process.following import JobRun

SILENT = CompilerFacts(reason="the step gets a RaggedTensor", how="run one step on the TPU")


def test_a_compiler_that_said_nothing_is_told_with_what_to_do() -> None:
    signals = Signals(origin=Origin.REHEARSAL, compiler=SILENT, end=JobEnd(how="stopped"))
    (note,) = job_summary.not_compiled(signals)
    assert "no HBM and no time of the step: the step gets a RaggedTensor; run one step" in note
    assert (
        job_summary.not_compiled(Signals(origin=Origin.REHEARSAL, compiler=CompilerFacts())) == ()
    )
    crashed = Signals(
        origin=Origin.REHEARSAL, compiler=SILENT, end=JobEnd(how="exception", error="KeyError: 1")
    )
    assert job_summary.not_compiled(crashed) == ()


def test_fewer_replicas_than_the_target_has_are_explained() -> None:
    eight = target("v5e-8")
    whole = job_summary.headline(eight, "asked", None, None, 8)
    assert whole.endswith("rehearsed for v5e-8 on 8 CPU replicas.")
    fewer = job_summary.headline(eight, "asked", None, None, 1)
    assert fewer.endswith("on 1 CPU replica, as many of its 8 as this machine holds.")


def test_a_job_without_a_tpu_strategy_is_not_said_to_have_seen_all_replicas() -> None:
    eight = target("v5e-8")
    for made, own in (((GpuUse("tf.distribute.MirroredStrategy", None),), 1), ((), None)):
        loop = TrainingLoop(dispatches=9, gpu=made, tpu_strategy=not made)
        signals = Signals(origin=Origin.REHEARSAL, target=eight, loop=loop)
        assert job_summary.own_replicas(signals) == own
        said = "".join(job_summary.notes(signals, 2, None))
        assert ("the job saw so many" in said) is (not made)
    ended = JobEnd(how="exception", error="ModuleNotFoundError: No module named 'gin'")
    unplaced = TrainingLoop(dispatches=0, unplaced=True)
    early = Signals(origin=Origin.REHEARSAL, loop=unplaced, end=ended)
    assert job_summary.own_replicas(early) is None, "it did not come to where it would make one"
    line = job_summary.headline(eight, "asked", None, None, 1, own=True)
    assert line.endswith("on 1 CPU replica, since the job makes no TPUStrategy.")


def test_all_data_are_said_to_be_in_reach_where_a_whole_job_asked_for_no_other() -> None:
    def said(how: JobEndKind, *things: str) -> str:
        signals = Signals(origin=Origin.REHEARSAL, stood_in=things, end=JobEnd(how=how))
        return "".join(job_summary.stood_in(signals))

    every = "all data could be reached"
    assert every in said("finished") and every in said("stopped")
    assert every not in said("finished", "train.csv")
    assert every not in said("exception"), "what it ended at may be what is away"
    assert every not in said("timeout"), "it had not asked for all yet"


def test_what_a_script_wrote_for_real_on_the_way_to_its_tpu_is_said() -> None:
    for ran in (True, False):
        tried = TpuAttempt(asked="mine", reached=False, phase="resolver", ran=ran)
        signals = Signals(origin=Origin.REHEARSAL, tpu=tried)
        assert any("is on disk" in note for note in job_summary.notes(signals, 8, None)) is ran


def test_a_wrapped_exception_is_told_by_what_it_wraps() -> None:
    calling = "ValueError: Exception encountered when calling"
    for error, said in (
        (f"{calling} layer 'a' (type A).\n\nin user code:\n\n    KeyError: 'b'\n", "KeyError: 'b'"),
        (f"{calling} A.call().\n\n\x1b[1mb is odd\x1b[0m\n\nArguments", "ValueError: b is odd"),
        (f"{calling} layer 'a' (type A).", f"{calling} layer 'a' (type A)."),
    ):
        signals = Signals(origin=Origin.REHEARSAL, end=JobEnd(how="exception", error=error))
        assert job_summary.partial(signals, None, "python") == f"the job crashed: {said}"


def test_a_report_on_jax_says_too_what_was_stood_in_for_and_passed_over() -> None:
    asked = JobRequest(
        target=target("v5e-8"), target_choice="asked", timeout_s=60.0, python=THIS_PYTHON,
        compiler=CompilerRequest(timeout_s=60.0),
    )  # fmt: skip
    judged = job_report.JudgedJob(
        signals=Signals(origin=Origin.REHEARSAL, framework=Framework.JAX, stood_in=("a.csv",)),
        outcomes=(),
        run=JobRun(facts={"passed_over": ["train.py:3 load()"], "several_processes": True}),
        started=datetime.now(UTC),
        asked_tpu=None,
        replicas=1,
        not_run=False,
        profile_note=(),
    )
    notes = " ".join(job_report.report(asked, judged).notes)
    for each in ("for (--fake-data): a.csv", "over for lack of data", "one of several processes"):
        assert each in notes
