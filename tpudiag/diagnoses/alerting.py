"""Alerts: raised once, until what they say is over; each tells the hook of the user."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any, Literal

from tpudiag.model import Outcome, Severity, Verdict
from tpudiag.printing import say

HOOK_S = 60.0
AT_ONCE_HOOKS = 8
SETTLED_S = 60.0
PIPE_BYTES = 65_000
State = Literal["raised", "over"]


class Alerts:
    """What was raised; `hook` is a command for the shell, told by its environment and stdin."""

    def __init__(
        self,
        source: str,
        hook: str | None = None,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self._source, self._hook, self._monotonic = source, hook, monotonic
        self._raised: dict[str, tuple[str, Severity]] = {}
        self._well_s: dict[str, float] = {}
        """Since when a warning that was raised does not stand."""
        self._hooks: list[subprocess.Popen[bytes]] = []
        self.told: list[str] = []
        """A line for each alert that was raised, or is over."""

    def raises(self, outcome: Outcome) -> bool:
        """Whether this outcome is an alert that was not raised yet."""
        return _fails(outcome) and outcome.id not in self._raised

    def judge(self, outcome: Outcome, job: Mapping[str, Any]) -> None:
        """Raise an alert for what has begun to fail, and end it when it is over."""
        if self.raises(outcome):
            message = outcome.findings[0].message
            more = len(outcome.findings) - 1
            message += f" ({more} more)" if more else ""
            self._raised[outcome.id] = message, outcome.severity
            self.told.append(f"{outcome.id} {outcome.name}: {message}")
            self._call(outcome, "raised", message, job)
        elif _fails(outcome):
            self._well_s.pop(outcome.id, None)
        elif outcome.id in self._raised and self._settled(outcome.id):
            # What was raised is said again: the finding is gone, and whoever is told must know
            # which one it was.
            message, _ = self._raised.pop(outcome.id)
            self.told.append(f"{outcome.id} {outcome.name}: over")
            self._call(outcome, "over", message, job)

    def _settled(self, id_: str) -> bool:
        """Whether it is over: a warning on the edge of its limit is not, at each breath."""
        if self._raised[id_][1] is Severity.WARNING:
            since_s = self._well_s.setdefault(id_, self._monotonic())
            if self._monotonic() - since_s < SETTLED_S:
                return False
        self._well_s.pop(id_, None)
        return True

    def reap(self) -> None:
        """Say which hooks failed; forget those that have ended."""
        for hook in [hook for hook in self._hooks if hook.poll() is not None]:
            self._hooks.remove(hook)
            if hook.returncode:
                say(f"--on-alert: exit code {hook.returncode}")

    def close(self) -> None:
        """Wait for the hooks; those that take too long are ended."""
        for hook in self._hooks:
            try:
                hook.wait(HOOK_S)
            except subprocess.TimeoutExpired:
                hook.kill()
                say(f"--on-alert: ended after {HOOK_S:.0f} s")
        self.reap()

    def _call(self, outcome: Outcome, state: State, message: str, job: Mapping[str, Any]) -> None:
        """Run the hook, with all that is known as JSON on its stdin."""
        # A check on the edge of its limit raises and ends its alert all night: hooks that hang must
        # not pile up.
        if self._hook is None or len(self._hooks) >= AT_ONCE_HOOKS:
            return
        payload = {
            "id": outcome.id,
            "name": outcome.name,
            "state": state,
            "severity": outcome.severity.value,
            "message": message,
            "source": self._source,
            "time": datetime.now(UTC).isoformat(timespec="seconds"),
            **job,
        }
        cause: Any = job.get("cause")
        environment = {
            **os.environ,
            "TPUDIAG_ALERT": outcome.id,
            "TPUDIAG_STATE": state,
            "TPUDIAG_MESSAGE": message,
            "TPUDIAG_SOURCE": self._source,
            "TPUDIAG_CAUSE": cause["kind"] if cause else "",
        }
        hook = subprocess.Popen(
            self._hook,
            shell=True,
            env=environment,
            stdin=subprocess.PIPE,
            # stdout is the report's: a word of the hook would break its JSON.
            stdout=sys.stderr.fileno(),
        )
        self._hooks.append(hook)
        _give(hook, json.dumps(payload, ensure_ascii=False).encode()[:PIPE_BYTES] + b"\n")


def _fails(outcome: Outcome) -> bool:
    """Whether an outcome is worth an alert."""
    return outcome.verdict is Verdict.FAILED and outcome.severity >= Severity.WARNING


def _give(hook: subprocess.Popen[bytes], payload: bytes) -> None:
    """Write the hook's stdin; a pipe takes 64 KiB at once, so nobody waits for a slow reader."""
    assert hook.stdin is not None
    try:
        hook.stdin.write(payload)
        hook.stdin.close()
    except OSError:
        return
