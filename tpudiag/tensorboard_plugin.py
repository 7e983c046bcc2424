# pyright: reportUnknownMemberType=false, reportUnknownArgumentType=false
# pyright: reportUnknownVariableType=false
"""A tab of TensorBoard: tpudiag's report on each profile in its log folder, and two compared.

TensorBoard finds it by the entry point `tensorboard_plugins`; nothing else imports it. Reports
are made on request and kept in memory: nothing is written into the log folder.
"""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Callable, Iterable
from functools import partial
from html import escape, unescape
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from tensorboard.backend.http_util import Respond  # type: ignore[import-untyped]
from tensorboard.plugins import base_plugin  # type: ignore[import-untyped]
from werkzeug.wrappers import Request

from tpudiag.errors import TpudiagError, UnreadableInput

if TYPE_CHECKING:
    from tpudiag.sources.profile.locate import Run

KEPT = 16
"""Pages kept in memory; the oldest is dropped."""
ROOT = "../../.."
"""TensorBoard's own page, as seen from this plugin's and from the profile plugin's."""
HASH = re.compile(r"'sha256-([A-Za-z0-9+/=]+)'")
"""The report's own policy names its scripts; TensorBoard's must allow the same."""


class ReportsPlugin(base_plugin.TBPlugin):  # type: ignore[misc]
    """Lists the profiles of a log folder, and shows the report on one or the change of two."""

    plugin_name = "tpudiag"

    def __init__(self, context: base_plugin.TBContext) -> None:
        log_dir: Any = context.logdir
        self._log_dir = str(log_dir or "")
        self._pages: dict[tuple[object, ...], str] = {}
        self._lock = threading.Lock()

    def get_plugin_apps(self) -> dict[str, Callable[..., Iterable[bytes]]]:
        """The routes under /data/plugin/tpudiag."""
        return {
            "/index.js": self._script,
            "/runs": self._runs,
            "/report": partial(self._page, names=("run",)),
            "/compare": partial(self._page, names=("a", "b")),  # what changed from a to b
        }

    def is_active(self) -> bool:
        """Whether the log folder holds a profile."""
        return bool(self._found())

    def frontend_metadata(self) -> base_plugin.FrontendMetadata:
        """How TensorBoard shows the tab."""
        return base_plugin.FrontendMetadata(
            es_module_path="/index.js", tab_name="tpudiag", disable_reload=True
        )

    def _found(self) -> dict[str, Run]:
        from tpudiag.sources.profile import locate

        try:
            return {run.name: run for run in locate.runs(self._log_dir)}
        except (UnreadableInput, OSError):
            return {}

    def _script(self, environ: Any, start: Any) -> Iterable[bytes]:
        script = files("tpudiag.reports").joinpath("templates/tensorboard.js").read_text("utf-8")
        return self._answer(environ, start, script, "text/javascript")

    def _runs(self, environ: Any, start: Any) -> Iterable[bytes]:
        return self._answer(environ, start, json.dumps(list(self._found())), "application/json")

    def _page(self, environ: Any, start: Any, names: tuple[str, ...]) -> Iterable[bytes]:
        """A page made of the runs that the request names; only those of the log folder."""
        reports = self._found()
        requested = [Request(environ).args.get(name, "") for name in names]
        chosen = [reports[name] for name in requested if name in reports]
        if len(chosen) < len(names):
            return self._answer(environ, start, _plain("There is no such profile."), code=404)
        # With times and sizes: a rewritten run of the same name is another page.
        key = tuple((run.folder, run.when, run.sizes) for run in chosen)
        # One at a time: a second request for the same page waits for the first, and finds it.
        with self._lock:
            try:
                page = self._pages.pop(key, None) or _made(
                    [run.folder for run in chosen], _own_address(environ)
                )
            except TpudiagError as error:
                return self._answer(environ, start, _plain(str(error)), code=500)
            self._pages[key] = page
            for old in list(self._pages)[:-KEPT]:
                del self._pages[old]
        return self._answer(environ, start, page)

    def _answer(
        self, environ: Any, start: Any, content: str, kind: str = "text/html", code: int = 200
    ) -> Iterable[bytes]:
        """The WSGI answer, under TensorBoard's own policy for what a page may do."""
        # The policy stands in the page's head; a report is megabytes.
        hashes = HASH.findall(unescape(content[:4000])) if kind == "text/html" else None
        response: Any = Respond(
            Request(environ), content, kind, code=code, csp_scripts_sha256s=hashes
        )
        answered: Iterable[bytes] = response(environ, start)
        return answered


def _own_address(environ: Any) -> str:
    """Where this TensorBoard answers itself: what it bound, and never what a request calls it."""
    host = environ["SERVER_NAME"]
    local = "localhost" if host in ("", "0.0.0.0", "::") else host
    shown = f"[{local}]" if ":" in local else local
    return f"http://{shown}:{environ['SERVER_PORT']}{environ.get('SCRIPT_NAME', '')}"


def _made(folders: list[str], xprof: str) -> str:
    """The report on one folder, or the comparison of two, as HTML; raises TpudiagError.

    Linked to the profile plugin of the TensorBoard at the address, where it has one.
    """
    from tpudiag.catalogue import renderer
    from tpudiag.diagnoses import sides
    from tpudiag.diagnoses.profile import ProfileRequest, diagnose
    from tpudiag.settings import Settings

    reports = [
        diagnose(
            ProfileRequest(path=f, xprof_limit_s=0, xprof=(xprof,), xprof_seen_at=ROOT), Settings()
        )
        for f in folders
    ]
    if len(reports) == 1:
        return renderer("html")(reports[0])
    both = (folders[:1], folders[1:]), (reports[:1], reports[1:])
    return renderer("html")(sides.compared(*both, across_hardware=True).report)


def _plain(text: str) -> str:
    return f"<!doctype html><meta charset=utf-8><title>tpudiag</title><p>{escape(text)}</p>"
