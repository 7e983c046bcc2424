"""Notes on the rehearsal of a JAX job."""

from tpudiag.diagnoses import script_coverage
from tpudiag.signals import Origin, Signals


def devices(signals: Signals) -> int | None:
    """The devices that the job found; None for another framework, or without a step."""
    return signals.sharding.here if signals.sharding is not None else None


def notes(signals: Signals, several_processes: bool, not_run: str | None) -> tuple[str, ...]:
    """How the figures were obtained."""
    if signals.origin is not Origin.REHEARSAL:
        return (
            "Running JAX on a TPU follows the documented API and was not verified on hardware.",
        )
    found = devices(signals)
    read = (f"The step was traced, lowered and compiled, and not run: {not_run}.",)
    one = (
        "The job is one of several processes (jax.distributed); it was rehearsed as the only one.",
    )
    return (
        f"JAX found {found or 'several'} CPU devices in place of the TPU's; times are those of "
        "this machine.",
        *(read if not_run else ()),
        *script_coverage.urgent(signals.coverage, signals.misfits, signals.hook_defects),
        *script_coverage.notes(signals.coverage),
        *(one if several_processes else ()),
    )
