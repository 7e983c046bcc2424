"""The parts of a job's report besides its checks: headline, notes, figures, the next command."""

import platform
import re
import shlex
import statistics
from collections.abc import Mapping
from pathlib import Path

import msgspec

from tpudiag.diagnoses import last_words, missing_package, older_release
from tpudiag.diagnoses.job_request import TargetChoice
from tpudiag.diagnoses.report_parts import Figures, count, listed
from tpudiag.hardware import Target
from tpudiag.script_run import RunEnvironment
from tpudiag.signals import Framework, Origin, Signals, TpuAttempt
from tpudiag.sources.job.process import runner
from tpudiag.sources.job.process.job_python import JobPython
from tpudiag.sources.job.tensorflow.devices.tpu_stubs import SUBSTITUTED

MOST_NAMED = 6
"""The most things that a note lists."""
_WRAPPED = re.compile(r"in user code:$|Exception encountered when calling .*?(?P<keras_3>\(\)\.)?$")
NOT_RUN = "A TensorFlow 1 script: it was read, and not run."
INTERRUPTED = "interrupted: this is what was seen until then"


def measurements(signals: Signals, wall_s: float) -> Figures:
    """The report's figures outside any check."""
    figures = Figures()
    where = "CPU replicas" if signals.origin is Origin.REHEARSAL else "TPU"
    steps = signals.steps
    if steps is not None and steps.step_ms:
        source = f"{steps.source}, median of {len(steps.step_ms)} steps on {where}"
        # The median: warm-up, a checkpoint or a busy neighbour shift the mean of twenty steps.
        median = statistics.median(steps.step_ms)
        figures.put("step_time_ms", median, "ms", source, 3)
        if signals.batch is not None and median:
            rate = signals.batch.global_batch / median * 1e3
            figures.put("examples_per_second", rate, "examples/s", source, 1)
        if steps.input_wait_ms is not None:
            figures.put("input_wait_ms", statistics.median(steps.input_wait_ms), "ms", source, 3)
    training = [function.traces for function in signals.functions or () if function.trains]
    figures.put("traces", sum(training) if training else None, "traces", "job")
    costs = [p.cost for p in signals.pipelines or () if p.trains and p.cost is not None]
    slowest = min((cost.examples_per_second for cost in costs), default=None)
    alone = "the pipeline alone on this machine"
    figures.put("input_examples_per_second", slowest, "examples/s", alone, 1)
    took_s = signals.tensorflow.took_s if signals.tensorflow is not None else None
    figures.put("tensorflow_import_s", took_s, "s", "job", 2)
    figures.put("job_wall_time_s", wall_s, "s", "this machine's clock", 2)
    return figures


def environment(python: JobPython, compiler: str | None) -> RunEnvironment:
    """The versions that the job ran with, and that examined it."""
    installed = python.distributions
    return RunEnvironment(
        python=python.release,
        python_path=python.path,
        chosen_by=python.because,
        tensorflow=python.tensorflow_version,
        keras=installed.get("keras"),
        # JAX installed the nightly libtpu under its own name for years.
        libtpu=installed.get("libtpu") or installed.get("libtpu-nightly"),
        packages=dict(sorted(installed.items())),
        tool_python=platform.python_version(),
        compiler=compiler,
    )


def headline(
    target: Target,
    choice: TargetChoice,
    attempt: TpuAttempt | None,
    asked: str | None,
    replicas: int,
    *,
    own: bool = False,
) -> str:
    """The first line: on a TPU, or rehearsed, and why; `own`: the job asks for no more replicas."""
    if attempt is not None and attempt.reached:
        return f"Running on TPU {attempt.asked or 'found'} as {target.name}."
    many = count(replicas, "CPU replica")
    if own:
        many += ", since the job makes no TPUStrategy"
    elif replicas < target.replicas:
        many += f", as many of its {target.replicas} as this machine holds"
    assumed = " (default)" if choice == "default" else ""
    rehearsing = f"rehearsed for {target.name}{assumed} on {many}"
    if asked is not None:
        return f"TPU {asked or '(unnamed)'} was not reached (see TPU003): {rehearsing}."
    return f"No TPU here: {rehearsing}."


def own_replicas(signals: Signals) -> int | None:
    """The replicas of a job that trains without a TPUStrategy; None for others."""
    loop, end = signals.loop, signals.end
    if signals.framework is Framework.JAX or loop is None or loop.tpu_strategy:
        return None
    if end is not None and end.how == "exception" and not loop.dispatches:
        return None  # it did not come to where it would make one
    others = loop.unplaced or any(use.what.endswith("Strategy") for use in loop.gpu)
    return signals.strategy_replicas or 1 if others else None


def notes(signals: Signals, replicas: int, cut_to_steps: object) -> tuple[str, ...]:
    """What a reader must know to understand the figures."""
    notes: list[str] = []
    if signals.origin is Origin.REHEARSAL and signals.tpu is not None and signals.tpu.ran:
        notes.append(
            "The script ran for real until its TPU was not reached: what it wrote up to there is "
            "on disk, and the rehearsal found it there."
        )
    if signals.origin is Origin.REHEARSAL:
        notes.append(
            "CPU replicas stand in for the TPU's, and times are those of this machine. Stood in "
            "for while rehearsing: " + ", ".join(SUBSTITUTED) + "."
        )
        keras = signals.keras
        if keras is not None and keras.package == "keras" and keras.steps_per_execution > 1:
            notes.append(
                f"steps_per_execution is {keras.steps_per_execution}; CPU replicas took one step "
                "per execution: those of Keras 3 fail with more."
            )
        target = signals.target
        own = own_replicas(signals) is not None
        if target is not None and target.replicas > replicas and not own:
            notes.append(
                f"{target.name} has {target.replicas} replicas, and the job saw so many; of them "
                f"ran {replicas}, each with the target's per-replica batch. "
                "The input pipeline makes their examples alone where it can. "
                "What the job sums over replicas is "
                f"{replicas}/{target.replicas} of the real sum."
            )
        if cut_to_steps:
            notes.append(
                f"Steps are slow on this machine: {cut_to_steps} of them "
                f"{'was' if cut_to_steps == 1 else 'were'} profiled, at once after the first two. "
                "`--steps N` profiles N."
            )
    else:
        notes.append(
            "Running on a TPU follows the documented API and was not verified on hardware."
        )
    return tuple(notes)


def not_compiled(signals: Signals) -> tuple[str, ...]:
    """A note that the TPU compiler gave no answer: why, and what to do."""
    compiler, end = signals.compiler, signals.end
    if compiler is None or compiler.reason is None or (end is not None and end.error):
        return ()
    how = f"; {compiler.how}" if compiler.how else ""
    return (f"Without the TPU compiler, no HBM and no time of the step: {compiler.reason}{how}.",)


def traced_alone(not_run: object) -> tuple[str, ...]:
    """What was too heavy to be run, or could not be."""
    if not not_run:
        return ()
    which = ", ".join(msgspec.convert(not_run, tuple[str, ...], strict=False)[:MOST_NAMED])
    return (
        f"Too much for this machine, so traced and not run: {which}; what it gives the script is "
        "zero. What is said of its shapes, products and memory is of the whole batch; its time, "
        "its losses and the numbers in it were not measured.",
    )


def stood_in(signals: Signals) -> tuple[str, ...]:
    """The effect of --fake-data."""
    things = signals.stood_in
    if things is None or signals.origin is not Origin.REHEARSAL:
        return ()
    if not things and signals.end is not None and signals.end.how not in ("finished", "stopped"):
        return ("--fake-data: nothing was stood in for until the job ended.",)
    if not things:
        return ("--fake-data: all data could be reached; nothing was stood in for.",)
    if signals.stand_in_kinds == ("service",):
        return (f"Stood in for (--fake-data): {listed(things, MOST_NAMED)}, and no data.",)
    return (
        f"Data stood in for (--fake-data): {listed(things, MOST_NAMED)}. What depends on the "
        "size or content of the data was not judged.",
    )


def not_by_hand(added: Mapping[str, str]) -> str:
    """Environment variables that the job would not see if started by hand."""
    settings = ", ".join(f"{name}={value}" for name, value in added.items())
    variables = f" set in its environment: {settings};" if added else ""
    own = "a session" + (" and a folder for temporary files" if added else "")
    gone = f" Today's Colab sets no {runner.COLAB_TPU}." if runner.COLAB_TPU in added else ""
    return (
        f"Not as if started by hand:{variables} no terminal (stdin is empty, output goes through "
        f"a pipe); {own} of its own; python -B, so that no bytecode is written.{gone}"
    )


def next_command(folder: Path) -> str | None:
    """The one command that opens the profile."""
    if not any(folder.rglob("*.xplane.pb")):
        return None
    return f"xprof --logdir {shlex.quote(str(folder))} --port 6006"


def _said(error: str) -> str:
    """The most telling line of an error: AutoGraph and Keras put it behind their own."""
    lines = [line.strip() for line in error.strip().splitlines() if line.strip()]
    own = [line for line in lines[1:] if re.match(r"[A-Za-z_.]*(Error|Exception): ", line)]
    first = lines[0] if lines else "without a word"
    wrapped = _WRAPPED.search(first)
    if wrapped is None or len(lines) == 1:
        return first
    told = lines[1].removeprefix("\x1b[1m").removesuffix("\x1b[0m")
    behind = f"{first.partition(':')[0]}: {told}" if wrapped["keras_3"] else first
    return own[-1] if own else behind


_PASSED_OVER = {
    "passed_over": "Passed over for lack of data, what they would have set being made by its use",
    "failed_on_stand_ins": (
        "Passed over, as they failed where data are stood in for or a loop was cut short (whether "
        "they fail in a real run, too, is not known)"
    ),
}
"""The fact -> what is said of its statements."""


def passed_over(facts: Mapping[str, object]) -> tuple[str, ...]:
    """The statements that failed, and that the script went on without; by why."""
    return _lines(facts, _PASSED_OVER)


def not_drawn(facts: Mapping[str, object]) -> tuple[str, ...]:
    """The drawing of a model that the script went on without."""
    return _lines(facts, {"not_drawn": "A model could not be drawn, as in a real run from here"})


def _lines(facts: Mapping[str, object], said_of: Mapping[str, str]) -> tuple[str, ...]:
    passed = (
        (said, msgspec.convert(facts.get(name) or (), tuple[str, ...], strict=False))
        for name, said in said_of.items()
    )
    return tuple(f"{said}: {listed(of, MOST_NAMED, '; ')}." for said, of in passed if of)


def partial(
    signals: Signals, timed_out: str | None, python: str, without: tuple[str, ...] = ()
) -> str | None:
    """Why the report is partial, None where it is complete; `python` is the job's.

    `without`: statements that were skipped.
    """
    end = signals.end
    ran = end is not None and end.how in ("finished", "stopped")
    # A job that only reads its own data, or predicts, is whole without one.
    if ran and signals.dispatch is None and (without or signals.stood_in):
        return " ".join(("no training step was seen.", *without))
    if timed_out:
        return timed_out
    if end is not None and end.how == "interrupted":
        return INTERRUPTED
    if end is not None and end.how == "unsupported":
        where = f" ({end.location})" if end.location else ""
        return f"the job cannot be rehearsed further: {end.error}{where}"
    if end is not None and end.how in ("exception", "signal", "exit"):
        error = _said(end.error) if end.error else last_words.of_exit(end.log_tail, end.exit_code)
        where = f" ({end.location})" if end.location else ""
        script = end.location.file if end.location else ""
        imported = signals.tensorflow.version if signals.tensorflow is not None else None
        of_jax = signals.framework is Framework.JAX
        older = older_release.advice(error, imported or "", of_jax=of_jax)
        older = older or (older_release.of_package(end.crash, python) if end.crash else None)
        install = older or missing_package.advice(error, python, script)
        crashed = f"the job crashed: {error}{where}"
        if end.follows_from:
            return f"{end.follows_from} was not run, and by that {crashed}. Run it here first"
        return crashed + (f". {install}" if install else "")
    return None
