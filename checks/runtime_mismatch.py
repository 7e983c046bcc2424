"""TPU002."""

from __future__ import annotations

from collections.abc import Iterator

from tpudiag.known_errors.model import Kind, Phase
from tpudiag.model import Evidence, Finding, Severity, check
from tpudiag.signals import Environment, Signals

from ._need import need

_OWNERS = ("tensorflow", "tensorflow-cpu", "tensorflow-tpu", "tensorflow-gpu", "tf-nightly")
_LIBTPU = {"2.19": ((0, 0, 10), (0, 0, 10)), "2.20": ((0, 0, 14), (0, 0, 31))}
"""tensorflow-tpu release -> the libtpu releases it imports with (first, last); measured."""


_FOR_TPU = "'tensorflow-tpu==2.19.1' 'libtpu==0.0.10'"
"""The last release that its vendor says works, with the libtpu that it names."""


@check("TPU002", Severity.ERROR)
def runtime_mismatch(signals: Signals) -> Iterator[Finding | Evidence]:
    """The TensorFlow packages do not fit each other, or importing them fails.

    ## What it sees
    The installed distributions that own the folder `tensorflow`, the versions of tensorflow-tpu
    and libtpu, and what importing TensorFlow in a child process came to.

    ## Why it costs
    tensorflow, tensorflow-cpu and tensorflow-tpu overwrite each other in one folder: the last one
    installed wins, silently. Of one release that is harmless, but where one of them is the build
    for TPUs. A libtpu that does not fit aborts the process at import, with no
    Python exception.

    ## What to do
    One TensorFlow in an environment, with the libtpu that fits:
    ```
    pip uninstall -y tensorflow tensorflow-cpu tensorflow-tpu
    pip install 'tensorflow-tpu==2.19.1' 'libtpu==0.0.10'
    pip install --no-deps tf-keras   # tf-keras would bring `tensorflow` along
    ```

    ## Source
    Imports tried one by one (tensorflow-tpu 2.19.1 with libtpu 0.0.10; 2.20.0 with 0.0.14 to
    0.0.51); pytorch/xla#3786, jax#29989.
    """
    environment = need(signals.environment, "the Python environment")
    seen = need(signals.tensorflow, "TensorFlow's import")
    owners = [name for name in _OWNERS if name in environment.distributions]
    if len(owners) > 1:
        yield _installed_over(owners, environment, imported=seen.succeeded)
    yield from _libtpu(environment)
    if not seen.succeeded:
        yield Finding(
            f"importing TensorFlow failed: {seen.failure}",
            _reinstall(seen.failure or "", environment),
            tuple(Evidence(name, environment.distributions[name]) for name in owners),
        )
        return
    for name in owners:
        yield Evidence(name, environment.distributions[name], source="installed packages")
    if seen.took_s is not None:
        yield Evidence("import", round(seen.took_s, 1), "s")


def _installed_over(owners: list[str], environment: Environment, *, imported: bool) -> Finding:
    """Several packages in one folder: a mix of releases, or of builds of one release."""
    versions = {name: environment.distributions[name] for name in owners}
    one_release = imported and len(set(versions.values())) == 1
    for_tpu = "tensorflow-tpu" in owners
    kept = "tensorflow-tpu" if for_tpu else owners[-1]
    tpu_vm = "" if for_tpu else f"\n# where the TPU is: pip install {_FOR_TPU}"
    severity = Severity.WARNING if for_tpu else Severity.INFO
    return Finding(
        f"{' and '.join(owners)} are installed over each other"
        + (
            ", all of one release: the build that was installed last is the one that runs."
            if one_release
            else "."
        ),
        # All of them first: uninstalling one takes files that the other has written over.
        f"pip uninstall -y {' '.join(owners)} && pip install {kept}=={versions[kept]}{tpu_vm}",
        tuple(Evidence(name, version) for name, version in versions.items()),
        severity=severity if one_release else None,
    )


def _reinstall(failure: str, environment: Environment) -> str:
    """What mends an import: as the catalogue of errors says, or a new installation."""
    # Slow to load, and a healthy import needs none.
    from tpudiag.known_errors.search import match
    from tpudiag.known_errors.versions import for_versions

    for hit in match(failure):
        if (
            hit.error.phase is Phase.INSTALLING
            and hit.error.kind is Kind.TELLING
            and not hit.secondary
        ):
            return for_versions(hit, environment.distributions).fix
    if "tensorflow-tpu" in environment.distributions:
        return f"pip install {_FOR_TPU}"
    return "pip install --force-reinstall tensorflow-cpu"


def _libtpu(environment: Environment) -> Iterator[Finding]:
    """Whether libtpu is one that this tensorflow-tpu imports with."""
    tensorflow = environment.distributions.get("tensorflow-tpu")
    libtpu = environment.distributions.get("libtpu")
    if tensorflow is None or libtpu is None:
        return
    fitting = _LIBTPU.get(".".join(tensorflow.split(".")[:2]))
    numbers = tuple(int(part) for part in libtpu.split(".")[:3] if part.isdigit())
    # A release that was not tried, or a nightly one, is not called wrong.
    if fitting is None or len(numbers) < 3:
        return
    first, last = (".".join(map(str, version)) for version in fitting)
    if not fitting[0] <= numbers <= fitting[1]:
        wanted = f"=={first}" if first == last else f">={first},<={last}"
        yield Finding(
            f"tensorflow-tpu {tensorflow} does not import with libtpu {libtpu}.",
            f"pip install 'libtpu{wanted}'",
            (Evidence("libtpu", libtpu, limit=f"{first} to {last}", source="installed packages"),),
        )
