from tpudiag.installs import words
from tpudiag.installs.state import State, state_of
from tpudiag.installs.table import Standing
from tpudiag.known_errors.model import Kind, Phase
from tpudiag.model import Evidence, Finding, Judgement, Severity, check
from tpudiag.signals import Environment, Signals

from ._need import need

_OWNERS = ("tensorflow", "tensorflow-cpu", "tensorflow-tpu", "tensorflow-gpu", "tf-nightly")


@check("TPU002", Severity.ERROR)
def runtime_mismatch(signals: Signals) -> Judgement:
    """The TensorFlow packages do not fit each other, or find no TPU, or importing them fails.

    ## What it sees
    The installed distributions that own the folder `tensorflow`, the versions of tensorflow-tpu,
    libtpu and protobuf, the vendor of the image (Kaggle, Colab, a TPU VM), and the result of
    importing TensorFlow in a child process. A table says which of these states drive a TPU, and who
    saw it.

    ## Why it costs
    tensorflow, tensorflow-cpu and tensorflow-tpu overwrite each other in one folder: the last one
    installed wins, silently. Within one release that is harmless, unless one of them is the build
    for TPUs. A libtpu that does not fit aborts the process at import, with no Python exception, or
    TensorFlow trains on the CPU next to a TPU that it does not see.

    ## What to do
    One TensorFlow in an environment, with the libtpu that it brings, on Python <<tpu_python>> or
    older; then the PJRT runtime, before TensorFlow is imported:
    ```
    pip uninstall -y tensorflow tensorflow-cpu tensorflow-tpu
    <<tpu_install>>
    <<tpu_variables>>
    pip install --no-deps 'tf-keras==<<tpu_minor>>.*'   # tf-keras would bring `tensorflow` along
    ```
    On Kaggle and Colab, whose TPU images have no TensorFlow that finds the TPU, in an environment
    of its own:
    ```
    <<tpu_environment>>
    ```
    or Keras 3 on JAX, which they have: `KERAS_BACKEND=jax`, and no tf.distribute.

    ## Source
    <<tpu_sources>>; pytorch/xla#3786, jax#29989.
    """
    environment = need(signals.environment, "the Python environment")
    seen = need(signals.tensorflow, "TensorFlow's import")
    owners = [name for name in _OWNERS if name in environment.distributions]
    if len(owners) > 1:
        yield _installed_over(owners, environment, imported=seen.succeeded)
    state = state_of(environment)
    if "tensorflow-tpu" in owners and (state.clashes or state.drives is False):
        # TensorFlow for TPUs that finds none: by its vendors, or for what stands beside it.
        evidence = (
            *(Evidence(c.package, c.version, limit=c.wanted) for c in state.clashes),
            Evidence(
                "finds a TPU", "not known" if state.drives is None else "no", source=state.because
            ),
        )
        # What imports was seen to fail by others: whether here, too, only a TPU can tell.
        broken = state.row is not None and state.row.standing is Standing.BROKEN
        severity = Severity.ERROR if broken else Severity.WARNING
        yield Finding(f"{state}.", words.fix(state.ways), evidence, severity=severity)
    if not seen.succeeded:
        yield Finding(
            f"importing TensorFlow failed: {seen.failure}",
            _reinstall(seen.failure or "", environment, state),
            tuple(Evidence(name, environment.distributions[name]) for name in owners),
        )
        return
    for name in owners:
        yield Evidence(name, environment.distributions[name], source="installed packages")
    finds = {True: "yes", False: "no", None: "not known"}[state.drives]
    yield Evidence("finds a TPU", f"{finds}: {state.because}", source=state.name)
    if seen.took_s is not None:
        yield Evidence("import", round(seen.took_s, 1), "s")


def _installed_over(owners: list[str], environment: Environment, *, imported: bool) -> Finding:
    versions = {name: environment.distributions[name] for name in owners}
    one_release = imported and len(set(versions.values())) == 1
    for_tpu = "tensorflow-tpu" in owners
    again = f"pip install {owners[-1]}=={versions[owners[-1]]}\n# where the TPU is: {words.INSTALL}"
    severity = Severity.WARNING if for_tpu else Severity.INFO
    return Finding(
        f"{' and '.join(owners)} are installed over each other"
        + (
            ", all of one release: the build that was installed last is the one that runs."
            if one_release
            else "."
        ),
        # All of them first: uninstalling one takes files that the other has written over.
        f"pip uninstall -y {' '.join(owners)} && {words.INSTALL if for_tpu else again}",
        tuple(Evidence(name, version) for name, version in versions.items()),
        severity=severity if one_release else None,
    )


def _reinstall(failure: str, environment: Environment, state: State) -> str:
    """What mends an import: as the catalogue of errors says, or a new installation."""
    # Slow to load, and a healthy import needs none.
    from tpudiag.known_errors.search import match
    from tpudiag.known_errors.versions import narrowed, package_of

    for hit in match(failure):
        if (
            hit.error.phase is Phase.INSTALLING
            and hit.error.kind is Kind.TELLING
            and not hit.secondary
        ):
            installed = environment.distributions.items()
            return narrowed(hit, {package_of(name): (each,) for name, each in installed}).fix
    if "tensorflow-tpu" in environment.distributions:
        return words.fix(state.ways)
    return "pip install --force-reinstall tensorflow-cpu"
