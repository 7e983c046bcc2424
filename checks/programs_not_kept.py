from tpudiag.model import Evidence, Finding, Framework, Judgement, Severity, check
from tpudiag.signals import Origin, Signals

from ._need import need

LIMIT = 60.0
"""Seconds of compilations in one start that are no matter: those of 19 small scripts took 20 to
64 s on two busy cores."""


@check("TPU704", Severity.INFO, frameworks=(Framework.JAX,))
def programs_not_kept(signals: Signals, limit: float = LIMIT) -> Judgement:
    """Each start compiles everything again: the persistent cache is off.

    ## What it sees
    The number of programs that JAX compiled up to the last observed step, the time that took, the
    TPU compiler's time for the step, and whether `jax_compilation_cache_dir` is set and the cache
    not switched off (`jax_enable_compilation_cache`).

    ## Why it costs
    A job that is restarted (preempted, resumed, retried) compiles all of its programs again while
    the chips wait: minutes to an hour for large models.

    ## What to do
    ```python
    jax.config.update("jax_compilation_cache_dir", "gs://bucket/jax-cache")   # before the first jit
    ```

    ## Source
    https://docs.jax.dev/en/latest/persistent_compilation_cache.html
    """
    programs = need(signals.programs, "a compilation of JAX")
    step = signals.compiler.step if signals.compiler is not None else None
    of_tpu_s = step.took_s if step is not None and not step.cached else 0.0
    spent = max(programs.spent_s, of_tpu_s)
    source = "the compilers of this machine"
    seen = (
        Evidence("programs compiled", programs.count, "programs"),
        Evidence("of them the step's", programs.of_step, "programs"),
        Evidence("compilations took", round(spent, 1), "s", int(limit), source),
        Evidence("cache", programs.cache_folder or "off"),
    )
    if programs.cache_folder is None and spent > limit:
        yield Finding(
            f"to compile {programs.count} program{'s' * (programs.count > 1)} took {spent:,.0f} s "
            "on this machine, and no start keeps them for the next: jax_compilation_cache_dir is "
            "not set, or the cache is switched off.",
            'jax.config.update("jax_compilation_cache_dir", "gs://bucket/jax-cache")  # first\n'
            "# and no jax_enable_compilation_cache=False",
            seen,
        )
    elif programs.cache_folder is None and signals.origin is Origin.REHEARSAL and step is None:
        need(None, "how long the TPU compiler takes", "leave out --no-compile")
    yield from seen
