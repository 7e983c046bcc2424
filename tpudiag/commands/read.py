"""`tpudiag read PATH`: what a TensorBoard profile says."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import TYPE_CHECKING

from tpudiag.commands._durations import duration
from tpudiag.commands._progress import progress
from tpudiag.commands._report import (
    add_report_options,
    beside_profile,
    check_outputs,
    emit,
    settings_for,
)
from tpudiag.harmless import one_line
from tpudiag.printing import put

if TYPE_CHECKING:
    from tpudiag.diagnoses.profile import ProfileRequest
    from tpudiag.sources.profile.locate import Run

EPILOG = """\
exit codes: 0 nothing at or above --fail-on failed; 1 something did, or a host of the run could
not be read (its absence is said beside every figure); 2 usage error, or nothing could be read.
"""


def add_parser(
    verbs: argparse._SubParsersAction[argparse.ArgumentParser],  # pyright: ignore[reportPrivateUsage]
) -> None:
    """The verb's own arguments."""
    parser = verbs.add_parser(
        "read",
        help="say what a TensorBoard profile holds",
        description="Reads a TensorBoard profile: where the step time goes, operations, input, "
        "memory, stragglers, checks.",
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument(
        "path",
        metavar="PATH",
        help="a TensorBoard log folder, a run folder or one *.xplane.pb; local or gs://",
    )
    parser.add_argument(
        "--run", metavar="NAME", dest="run_name", help="read this run instead of the newest"
    )
    parser.add_argument(
        "--step-name",
        metavar="NAME",
        help="the host's event, the program (its name without the number in brackets) or the "
        "tf.function that is one step, where the profile marks none",
    )
    parser.add_argument(
        "--top", metavar="N", type=_count, help="operations of the table (default: 30)"
    )
    parser.add_argument("--list", action="store_true", help="list the runs, newest first, and stop")
    add_xprof_option(parser)
    parser.add_argument(
        "--tensorboard",
        action="store_true",
        help="also write the report into the log folder, where TensorBoard shows it as text",
    )
    add_engine_option(parser)
    add_link_option(parser)
    add_report_options(parser)
    parser.set_defaults(run=run)


def add_xprof_option(parser: argparse.ArgumentParser) -> None:
    """--xprof-limit, for verbs that report on a profile."""
    parser.add_argument(
        "--xprof-limit",
        metavar="TIME",
        type=duration(zero=True),
        help="stop XProf's own analysis after this time; 0: do not ask it (default: 30 for "
        "profiles up to 5 MB, larger ones are not asked about)",
    )


def add_link_option(parser: argparse.ArgumentParser) -> None:
    """--xprof, for verbs that read profiles which XProf may show."""
    parser.add_argument(
        "--xprof",
        metavar="URL",
        help="link what was found to its moment in the XProf or TensorBoard that runs there; off: "
        "none (default: http://localhost:8791 and :6006, where one of them shows this profile)",
    )


def add_engine_option(parser: argparse.ArgumentParser) -> None:
    """--engine, for verbs that read profiles."""
    parser.add_argument(
        "--engine",
        metavar="ENGINE",
        default="local",
        help="where the hosts' files are read: local, or dask://scheduler:8786 whose workers see "
        "the same files (default: %(default)s)",
    )


def run(options: argparse.Namespace) -> int:
    """Read, examine, report; raises UnreadableInput and UsageError."""
    from tpudiag.commands._process import prepare_for_vectors

    # Before what imports numpy, whose BLAS reads its number of threads as it is loaded.
    prepare_for_vectors()
    from tpudiag.diagnoses import profile

    if options.list:
        return _list(profile.runs(options.path))
    check_outputs(options)
    settings = settings_for(options)
    with progress() as on_phase:
        report = profile.diagnose(request(options), settings, on_phase)
    code = emit(report, options)
    if options.tensorboard:
        beside_profile(report, options.path, options.run_name)
    return code


def request(options: argparse.Namespace) -> ProfileRequest:
    """The command line as a request."""
    from tpudiag.diagnoses import profile
    from tpudiag.diagnoses.profile_operations import TOP

    return profile.ProfileRequest(
        path=options.path,
        run=options.run_name,
        engine=options.engine,
        xprof_limit_s=options.xprof_limit,
        step_name=options.step_name,
        top=options.top or TOP,
        xprof=xprof_addresses(options),
    )


def xprof_addresses(options: argparse.Namespace) -> tuple[str, ...]:
    """Where --xprof says that XProf runs, or where it usually does."""
    from tpudiag.xprof_pages import USUAL_SERVERS

    if options.xprof is None:
        return USUAL_SERVERS
    if options.xprof == "off":
        return ()
    from tpudiag.sources.profile.xprof_server import refuse_odd

    refuse_odd(options.xprof)
    return (options.xprof,)


def _list(runs: Sequence[Run]) -> int:
    """The runs, newest first, one a line."""
    names = [one_line(run_.name) for run_ in runs]
    width = max(map(len, names))
    for run_, name in zip(runs, names, strict=True):
        hosts = f"{len(run_.files)} host{'' if len(run_.files) == 1 else 's'}"
        put(f"{name:<{width}}  {hosts:>9}  {run_.bytes / 1e6:10.1f} MB")
    return 0


def _count(text: str) -> int:
    """A number of rows."""
    value = int(text)
    if value < 1:
        raise ValueError(text)
    return value
