from tpudiag.model import Evidence, Finding, Judgement, NotMeasured, Severity, check
from tpudiag.signals import RepeatedSetup, Signals

from ._need import need, of_a_job

LIMIT = 1
"""Times that one line may compile the same model, or that the TPU is initialised."""


@check("TPU109", Severity.WARNING)
def repeated_setup(signals: Signals, limit: float = LIMIT) -> Judgement:
    """The TPU is initialised twice, or a model is compiled in every epoch.

    ## What it sees
    Calls of initialize_tpu_system, with the variables that existed before; calls of `Model.compile`
    on the same model by the same line while the trained variables stayed the same. Another
    `compile` after layers were frozen or unfrozen is no finding.

    ## Why it costs
    Initialising clears the memory of the TPU: variables made before are lost ("unable to find a
    buffer"). Each `compile` discards the traced step and the optimizer's slots: the step is traced
    and compiled again (minutes on a TPU), and Adam starts without its moments.

    ## What to do
    ```python
    model.compile(optimizer, loss)                 # once, before the loop
    for epoch in range(epochs):
        model.optimizer.learning_rate.assign(rate(epoch))
        model.fit(dataset, initial_epoch=epoch, epochs=epoch + 1)
    ```

    ## Source
    https://www.tensorflow.org/guide/tpu#tpu_initialization
    """
    of_a_job(signals, "what was set up")
    loop = need(signals.loop, "a job's set-up")
    if not (loop.dispatches or loop.setups):
        raise NotMeasured("no training step was seen", "rehearse the job to its first steps")
    for setup in loop.setups:
        if setup.kind == "tpu" and setup.times > limit:
            yield _initialised(setup, limit)
        # Without a fit in between the compile threw nothing away.
        elif setup.kind == "compile" and setup.times > limit and not setup.changed and setup.fits:
            yield _compiled(setup, limit)
    yield Evidence("set up again", len(loop.setups), "times")


def _initialised(setup: RepeatedSetup, limit: float) -> Finding:
    lost = f" {setup.variables} variables were made before and are lost." if setup.variables else ""
    return Finding(
        f"the TPU is initialised {setup.times} times, and each time clears its memory.{lost}",
        "tf.tpu.experimental.initialize_tpu_system(resolver)  # once, at the start of the program",
        (
            Evidence("initialisations", setup.times, "times", int(limit)),
            Evidence("variables made before", setup.variables, "variables", 0),
        ),
        setup.location,
    )


def _compiled(setup: RepeatedSetup, limit: float) -> Finding:
    return Finding(
        f"this line compiled the same model {setup.times} times with the same trainable variables: "
        "each time the step is traced and compiled again and the optimizer's slots are lost.",
        "model.compile(optimizer, loss)                      # once, before the loop\n"
        "model.optimizer.learning_rate.assign(rate)          # what changes from epoch to epoch",
        (
            Evidence("compiles of one line", setup.times, "times", int(limit)),
            Evidence("fits", setup.fits, "fits"),
        ),
        setup.location,
    )
