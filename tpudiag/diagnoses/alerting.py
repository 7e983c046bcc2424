"""Alerts: raised once until they are over; each calls the user's hook."""

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
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
    """The raised alerts; `hook` is a shell command with their data in its environment and stdin."""

    def __init__(
        self, source: str, hook: str | None = None, monotonic: Callable[[], float] = time.monotonic
    ) -> None:
        self._source, self._hook, self._monotonic = source, hook, monotonic
        self._raised: dict[str, tuple[str, Severity]] = {}
        self._well_s: dict[str, float] = {}
        """Since when a raised warning has passed."""
        self._hooks: list[subprocess.Popen[bytes]] = []
        self.lines: list[str] = []
        """A line for each alert that was raised or ended."""

    def raises(self, outcome: Outcome) -> bool:
        """Whether this outcome is a new alert."""
        return _fails(outcome) and outcome.id not in self._raised

    def judge(self, outcome: Outcome, job: Mapping[str, Any]) -> None:
        """Raise an alert for what begins to fail, and end it when it is over."""
        if self.raises(outcome):
            message = outcome.findings[0].message
            more = len(outcome.findings) - 1
            message += f" ({more} more)" if more else ""
            self._raised[outcome.id] = message, outcome.severity
            self.lines.append(f"{outcome.id} {outcome.name}: {message}")
            self._call(outcome, "raised", message, job)
        elif _fails(outcome):
            self._well_s.pop(outcome.id, None)
        elif outcome.id in self._raised and self._settled(outcome.id):
            # Repeat the raised message: the finding is gone, and the receiver must know which it
            # was.
            message, _ = self._raised.pop(outcome.id)
            self.lines.append(f"{outcome.id} {outcome.name}: over")
            self._call(outcome, "over", message, job)

    def _settled(self, id_: str) -> bool:
        """Whether it is over: a warning must pass for a while, since it may flap at its limit."""
        if self._raised[id_][1] is Severity.WARNING:
            since_s = self._well_s.setdefault(id_, self._monotonic())
            if self._monotonic() - since_s < SETTLED_S:
                return False
        self._well_s.pop(id_, None)
        return True

    def reap(self) -> None:
        """Report failed hooks; forget those that ended."""
        for hook in [hook for hook in self._hooks if hook.poll() is not None]:
            self._hooks.remove(hook)
            if hook.returncode:
                say(f"--on-alert: exit code {hook.returncode}")

    def close(self) -> None:
        """Wait for the hooks; slow ones are killed."""
        for hook in self._hooks:
            try:
                hook.wait(HOOK_S)
            except subprocess.TimeoutExpired:
                hook.kill()
                say(f"--on-alert: ended after {HOOK_S:.0f} s")
        self.reap()

    def _call(self, outcome: Outcome, state: State, message: str, job: Mapping[str, Any]) -> None:
        # A check may flap at its limit all night: hooks that hang must not pile up.
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
            # stdout belongs to the report: output of the hook would break its JSON.
            stdout=sys.stderr.fileno(),
        )
        self._hooks.append(hook)
        assert hook.stdin is not None
        # A pipe takes 64 KiB at once, so that a slow reader does not block.
        with suppress(OSError):
            hook.stdin.write(json.dumps(payload, ensure_ascii=False).encode()[:PIPE_BYTES] + b"\n")
            hook.stdin.close()


def _fails(outcome: Outcome) -> bool:
    return outcome.verdict is Verdict.FAILED and outcome.severity >= Severity.WARNING
