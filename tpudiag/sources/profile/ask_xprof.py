"""Run by path in a child process of its own: ask_xprof.py ANSWER TOOL FILE...

Writes XProf's answer for the tool to the file ANSWER; writes none where XProf has none. Imports
nothing of tpudiag: XProf's native code may abort or swallow memory, and must do so alone.
"""

import sys
from importlib import import_module
from pathlib import Path


def main(answer: str, tool: str, *files: str) -> int:
    """0 where XProf gave an answer, 1 where it gave none: its way to report a failure."""
    convert = import_module("xprof.convert.raw_to_tool_data").xspace_to_tool_data
    data: bytes | str | None = convert(list(files), tool, {"use_saved_result": False})[0]
    # XProf reports a failure by returning no data; the reason stands in its log alone.
    if not data:
        return 1
    Path(answer).write_bytes(data.encode() if isinstance(data, str) else data)
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
