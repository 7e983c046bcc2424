from collections.abc import Iterator

from tpudiag.model import Evidence, Finding, Judgement, Severity, check
from tpudiag.signals import Signals, StepNumerics, VariableSeen

from ._need import need, of_a_job

FIX = "with strategy.scope():\n    model = build_model()\n    optimizer = keras.optimizers.Adam()"


@check("TPU501", Severity.ERROR)
def variables_outside_scope(signals: Signals) -> Judgement:
    """Model or optimizer variables were made outside strategy.scope().

    ## What it sees
    Each trainable variable as it is made, and in a custom loop each optimizer slot: whether a
    strategy was in scope, and the line that made it. If a step was traced, variables that it does
    not take (a model for serving) do not count, nor do variables made after it, nor scalars
    (counters, rates), except those of metrics that the training step updates.

    ## Why it costs
    Such a variable is on the host, not on the replicas. Keras 3 refuses it ("colocate_vars_with
    must only be passed a variable created in this scope"); elsewhere every replica trains a copy
    that is never synchronised, or every step crosses to the host.

    ## What to do
    ```python
    with strategy.scope():
        model = build_model()
        optimizer = keras.optimizers.Adam()
    ```

    ## Source
    https://www.tensorflow.org/guide/tpu#distribution_strategies
    """
    of_a_job(signals, "where variables were made")
    trained = [v for v in need(signals.variables, "a variable") if v.trainable or v.optimizer]
    need(trained or None, "a trainable variable")
    replicas = need(signals.strategy_replicas, "a strategy of the job's")
    own_loop = signals.keras is None or signals.keras.loop == "custom"
    # As far as is known: a model for serving may live on the host.
    taken = [v for v in trained if (v.trained is not False if v.trainable else own_loop)]
    outside = [v for v in taken if not v.in_scope and v.shape]
    if outside and _training_unknown(signals, trained):
        need(None, "a training step: which of the variables it takes")
    if outside and replicas > 1:
        first = next((v for v in outside if v.trainable), outside[0])
        yield Finding(
            f"{len(outside)} of {len(taken)} model and optimizer variables were made outside "
            f"strategy.scope(), the first {first.name}.",
            FIX,
            _counted(len(outside), first.name),
            first.location,
        )
    elif replicas > 1 and signals.numerics is not None:
        # Metrics of a model that is outside itself are mended with it: no replica runs it.
        yield from _metrics(signals.numerics)
        yield from _read(signals.numerics)
    yield Evidence("variables in scope", len(trained) - len(outside), "variables")


def _training_unknown(signals: Signals, trained: list[VariableSeen]) -> bool:
    """Whether no step showed which variables it trains: scripts also build models to inspect.

    A job that was refused for an outside variable has shown it.
    """
    if any(variable.trained is not None for variable in trained):
        return False
    error = signals.end.error if signals.end is not None else None
    if not error:
        return signals.dispatch is None
    # Slow to load, and most jobs do not crash.
    from tpudiag.known_errors.search import match

    return not any(hit.error.family == "outside-scope" for hit in match(error))


def _counted(number: int, first: str) -> tuple[Evidence, ...]:
    return Evidence("variables outside", number, "variables", 0), Evidence("first", first)


def _metrics(numerics: StepNumerics) -> Iterator[Finding]:
    # A metric has several variables, all of one line.
    made = {metric.location: metric for metric in reversed(numerics.outside_metrics)}
    for metric in list(made.values())[:3]:
        yield Finding(
            f"the step updates {metric.name} of a metric that was made outside strategy.scope(): "
            "all replicas write to one copy on the host.",
            "with strategy.scope():\n    metric = keras.metrics.Mean()",
            (Evidence("metric variables outside", len(numerics.outside_metrics), "variables", 0),),
            metric.location,
            severity=Severity.WARNING,
        )


def _read(numerics: StepNumerics) -> Iterator[Finding]:
    """What the step only reads (a teacher, features, tables of weights) and lies on the host."""
    read = numerics.outside_read
    if not read:
        return
    yield Finding(
        f"the step reads variables that were made outside strategy.scope(), {len(read)} of them, "
        f"the first {read[0].name}: they lie on the host, where a TPU's step does not reach them.",
        "with strategy.scope():  # behind initialize_tpu_system\n    teacher = build_teacher()",
        _counted(len(read), read[0].name),
        read[0].location,
        severity=Severity.WARNING,
    )
