"""The process in which one tool runs: `python -P -m tpudiag.mcp_server.worker`.

Reads a request as one line of JSON from stdin, writes lines of JSON to stdout: what is being done,
then the answer. Once stdin closes nobody waits any more, and what it started is ended: so nothing
outlives a client that cancels, or a server that is killed.
"""

import faulthandler
import json
import os
import signal
import sys
import threading
import traceback
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any, TextIO

from tpudiag import library, report_json
from tpudiag.errors import NothingDiagnosed, TpudiagError, UsageError
from tpudiag.mcp_server.tools import tool
from tpudiag.model import Report, Verdict
from tpudiag.phases import OnPhase, Phase
from tpudiag.printing import say_whole
from tpudiag.sanitized import harmless, one_line, redacted

Request = Mapping[str, Any]
"""`tool`, its `arguments`, and `python`: the job's, if the server has one."""
Answer = dict[str, Any]
"""`result` and `text`, or `error`."""
DIAGNOSES: dict[str, Callable[..., Report]] = {
    "check": library.check,
    "fix": library.fix,
    "read": library.read,
    "plan": library.plan,
    "compare": library.compare,
}
"""What answers each tool but `explain`."""
LEAVING_S = 60.0
"""How long a worker that nobody waits for any more may take to end what it started."""


class _Wire:
    """What the server reads; stdout itself goes to stderr, where stray words do no harm."""

    def __init__(self) -> None:
        self._stream: TextIO = os.fdopen(os.dup(1), "w", encoding="utf-8")
        self._lock = threading.Lock()
        # By descriptors, not sys.stdout: child processes and libraries in C++ write to 1
        # themselves.
        os.dup2(2, 1)
        self.is_closed = self.is_answered = False

    def answer(self, line: Answer) -> None:
        """Write the last line; the server may go now."""
        self.is_answered = True
        self.put(line)

    def put(self, line: Mapping[str, Any]) -> None:
        """Write one line."""
        with self._lock, suppress(OSError, ValueError):
            self._stream.write(json.dumps(line) + "\n")
            self._stream.flush()

    def on_phase(self, phase: str) -> None:
        """Say what is being done; a job that was cancelled ends here at the latest."""
        if self.is_closed:
            raise KeyboardInterrupt
        how_far = phase.how_far if isinstance(phase, Phase) else ""
        self.put({"phase": one_line(f"{phase}: {how_far}" if how_far else str(phase))})

    def watch(self) -> None:
        """Interrupt the work once the server is gone or wants no answer."""
        sys.stdin.read()
        if self.is_answered:
            return
        self.is_closed = True
        faulthandler.dump_traceback_later(LEAVING_S, exit=True)
        # Diagnoses take Ctrl-C as the wish to end: the job goes, and all that it started.
        os.kill(os.getpid(), signal.SIGINT)


def main() -> int:
    """Answer one request."""
    wire = _Wire()
    try:
        request: Request = json.loads(sys.stdin.readline())
        # A watchdog in C: where one call holds the interpreter, no thread of ours is heard. The
        # server ends a worker before that; this is for one that has none any more.
        faulthandler.dump_traceback_later(tool(request["tool"]).limit_s + LEAVING_S, exit=True)
        threading.Thread(target=wire.watch, daemon=True).start()
        wire.answer(answer(request, wire))
    except KeyboardInterrupt:
        return 130
    except TpudiagError as error:
        wire.answer({"error": one_line(str(error))})
    except Exception as error:
        say_whole(traceback.format_exc())
        defect = one_line(f"{type(error).__name__}: {error}")
        wire.answer(
            {"error": f"a defect of tpudiag: {defect[:300]} (the server's stderr has more)"}
        )
    return 0


def answer(request: Request, wire: _Wire) -> Answer:
    """What one tool says; raises TpudiagError."""
    if request["tool"] == "explain":
        return _explained(**request["arguments"])
    report = DIAGNOSES[request["tool"]](**library_arguments(request, wire.on_phase))
    # Whoever interrupted it waits for no answer, and half a report would pass for a whole one.
    if report.interrupted:
        raise KeyboardInterrupt
    return of_report(report, whole=bool(request["arguments"].get("whole")))


def library_arguments(request: Request, on_phase: OnPhase) -> dict[str, Any]:
    """What a tool's diagnosis is called with: the agent's arguments by name, and the server's."""
    name = request["tool"]
    given = {key: value for key, value in request["arguments"].items() if key != "whole"}
    if name in ("check", "fix", "plan"):
        given["python"] = request.get("python")
    if name in ("check", "fix"):
        # A project may reach beyond the folder, by its imports: no change is offered out there.
        given["changes_within"] = Path.cwd()
    if name == "check":
        # The tool promises a rehearsal on the CPU: left open, it would take a TPU that is there.
        given.update(tpu="none")
    return given | {"on_phase": on_phase}


def of_report(report: Report, *, whole: bool) -> Answer:
    """A report as an answer: its JSON, and its first screen."""
    # Tracebacks lead through other people's files: their lines are not read out to an agent.
    report = replace(report, excerpts=tuple(e for e in report.excerpts if _is_here(e.file)))
    return {
        "result": json.loads(report_json.dumps(report if whole else slim(report))),
        "text": library.render(report, "text"),
    }


def slim(report: Report) -> Report:
    """The report without what only plots and comparisons read."""
    return replace(
        report,
        series=(),
        samples=(),
        predictions=tuple(replace(p, instructions=(), operations=()) for p in report.predictions),
        outcomes=tuple(
            each if each.verdict is Verdict.FAILED else replace(each, evidence=each.evidence[:1])
            for each in report.outcomes
        ),
    )


def _explained(id: str | None = None, error: str | None = None, log: str | None = None) -> Answer:
    from tpudiag import explanation
    from tpudiag.known_errors import answers, reader
    from tpudiag.known_errors.catalogue import known_errors

    if [id, error, log].count(None) != 2:
        raise UsageError("explain: name one of id, error, log")
    if id is not None:
        check = explanation.find(id)
        if check is not None:
            return _answer(explanation.rows(check), checks=[explanation.data(check)])
        for known in known_errors():
            if known.id == id.upper():
                return _answer(answers.error_rows(known, str), errors=[answers.error_data(known)])
        raise UsageError(f"{id}: no check or known error has this id")
    found = reader.in_text(error or "") if log is None else reader.in_log(log)
    if not found:
        raise NothingDiagnosed(reader.nothing_in(log or "the text", error or ""))
    return _answer(answers.all_rows(found), errors=[answers.data(each) for each in found])


def _answer(rows: Any, **result: list[dict[str, object]]) -> Answer:
    data: dict[str, Any] = {"checks": [], "errors": [], **result}
    return {"result": json.loads(redacted(json.dumps(data))), "text": harmless("\n".join(rows))}


def _is_here(file: str) -> bool:
    with suppress(OSError, RuntimeError):
        return Path(file).resolve().is_relative_to(Path.cwd().resolve())
    return False


if __name__ == "__main__":
    sys.exit(main())
