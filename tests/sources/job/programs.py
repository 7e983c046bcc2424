"""Programs that run in a process of their own."""

import json
import subprocess
import sys
from typing import Any


def told(program: str, *arguments: str, **options: Any) -> Any:
    """The JSON that a Python program prints last; it must end well."""
    done = subprocess.run(
        [sys.executable, "-c", program, *arguments],
        capture_output=True,
        text=True,
        timeout=800,
        check=False,
        **options,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return json.loads(done.stdout.splitlines()[-1])
