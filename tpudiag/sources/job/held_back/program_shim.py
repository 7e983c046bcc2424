"""Comes first on PATH in place of programs that may send: `program_shim.py NAME ARGUMENTS...`.

Reading commands go to the real program, unchanged; sending ones are noted and answered as done. Run
by path in a bare Python: standard library alone, and no import of this package by name.
"""

import contextlib
import importlib.util
import json
import os
import re
import sys
from collections.abc import Sequence
from types import ModuleType
from urllib.parse import urlsplit

PROGRAMS = "TPUDIAG_PROGRAMS"
"""Names the folder that comes first on PATH."""
FILE, LINE = "TPUDIAG_SENDS", "TPUDIAG_LINE"
"""Name the file to append to, and the user's line that started the program."""
ALWAYS = ""
_VERBS = (
    r"(\S+ )*?(create|delete|update|deploy|submit|upload|patch|start|stop|reset|resume|suspend|ssh"
    r"|scp|publish|cancel|enable|disable|apply|terminate|put|copy|set|(add|remove|set|run|put|create"
    r"|delete|update|start|stop|send|invoke|modify|register|submit|upload|copy|terminate)-\S+)\b"
)
SENDS = {
    "git": r"push|send-email|lfs push|svn dcommit|annex (sync|copy|move)",
    "gh": r"(release|pr|issue|gist|repo|workflow|secret|variable|run) (?!list|view|download|clone"
    r"|status|checkout|diff|watch)\S+|api .*(-X|--method)[ =]?(POST|PUT|PATCH|DELETE)",
    "gsutil": r"rm|rb|mb|mv|compose|rewrite|setmeta|(acl|defacl|iam|cors|label|lifecycle|logging"
    r"|notification|retention|versioning|web|kms|hmac) (?!get|list)\S+",
    "gcloud": r"(?!auth|config|info|version|components|help)(storage (rm|mv)|" + _VERBS + ")",
    "bq": r"load|mk|rm|cp|insert|update|extract|cancel|query .*\b(insert|update|delete|merge|create"
    r"|drop|alter|truncate)\b",
    "aws": r"(?!configure|sts|sso)(s3 (rm|mb|rb|mv)|\S+ (?!cp|sync|ls)" + _VERBS + ")",
    "az": r"(?!login|account|config)" + _VERBS,
    "azcopy": r"rm|remove|make|set-properties",
    "s3cmd": r"put|del|rm|mb|rb|mv|modify|set\S+",
    "s5cmd": r"rm|mb|rb|mv|pipe",
    "rclone": r"delete\S*|purge|rmdirs?|move\S*|mkdir|rcat|touch|cleanup",
    "kaggle": r"(\S+ ){1,3}(create|version|push|submit|update|delete)",
    "hf": r"upload\S*|repos? (create|delete|move|branch|tag|settings)|repo-files|jobs run",
    "huggingface-cli": r"upload\S*|repo|repo-files|tag",
    "wandb": r"sync|artifact put|launch|sweep|agent|job create",
    "neptune": "sync",
    "comet": "upload",
    "dvc": "push|exp push",
    "twine": "upload",
    "docker": "push",
    "podman": "push",
    "kubectl": r"apply|create|delete|patch|replace|scale|rollout|exec|cp|label|annotate|run|set",
    "tensorboard": "dev upload",
    **dict.fromkeys(
        ("ssh", "sftp", "mail", "mailx", "sendmail", "mutt", "msmtp", "sbatch", "qsub", "bsub"),
        ALWAYS,
    ),
}
"""Sending commands, after the options that a program takes before its command."""
COPIES = {
    "gsutil": "cp|rsync",
    "gcloud": "storage (cp|rsync)",
    "aws": "s3 (cp|sync)",
    "azcopy": "copy|cp|sync",
    "s3cmd": "sync|cp",
    "s5cmd": "cp|sync",
    "rclone": "copy|copyto|sync|bisync",
    "scp": ALWAYS,
    "rsync": ALWAYS,
}
"""Commands that send where their last argument is remote."""
REQUESTS = ("curl", "wget")
_BODY = '{"tpudiag": "not sent"}'
_MAIL = ("mail", "mailx", "sendmail", "mutt", "msmtp")
_ELSEWHERE = re.compile(r"([a-z0-9+.-]+://|[\w.@-]{2,}:)")
_WITH_VALUE = {
    "git": ("-C", "-c", "--git-dir", "--work-tree"),
    "gsutil": ("-o", "-h", "-i", "-u"),
    "kubectl": ("-n", "--namespace", "--context"),
}
"""Options before the command that take a value."""


def names() -> set[str]:
    """The replaced programs."""
    return {*SENDS, *COPIES, *REQUESTS}


def sends(program: str, arguments: Sequence[str]) -> bool:
    """Whether a command sends."""
    if program in REQUESTS:
        return _requests(arguments)
    text = " ".join(_command(program, arguments))
    plain = [each for each in arguments if not each.startswith("-")]
    if program in COPIES and re.match(
        rf"({COPIES[program]})( |$)|^$" if COPIES[program] else "", text
    ):
        return bool(plain) and bool(_ELSEWHERE.match(plain[-1]))
    return program in SENDS and bool(
        re.match(rf"({SENDS[program]})( |$)" if SENDS[program] else "", text)
    )


def _command(program: str, arguments: Sequence[str]) -> list[str]:
    """A program's command and arguments, without the options before it."""
    left = list(arguments)
    while left and left[0].startswith("-"):
        if left.pop(0) in _WITH_VALUE.get(program, ()) and left:
            left.pop(0)
    return left


def _requests(arguments: Sequence[str]) -> bool:
    """Whether a request of curl or wget sends, by the rules for all requests."""
    method, data, kind, urls = "", "", "", [each for each in arguments if "://" in each]
    by_address = any(each in ("-G", "--get", "-I", "--head") for each in arguments)
    for argument, after in zip(arguments, [*arguments[1:], ""], strict=True):
        name, equals, value = argument.partition("=")
        value = value if equals else after
        short = re.match(r"-[sSfLkviNn#0-9aRqjJOgw]*([dFTX])(.*)$", argument)
        if name in ("--request", "--method"):
            method = value
        elif name.startswith(("--data", "--json", "--post-data", "--post-file", "--body")):
            data, method = value, method or "POST"
            kind = "" if "json" in name else "application/x-www-form-urlencoded"
        elif name in ("--upload-file", "--form", "--form-string"):
            data, method = "", "PUT"
        elif short and not argument.startswith("--"):
            value = short[2] or after
            if short[1] == "X":
                method = value
            elif short[1] == "d":
                data, method, kind = value, method or "POST", "application/x-www-form-urlencoded"
            else:
                data, method = "", "PUT"
    if not method or (by_address and method == "POST"):
        method = "GET"
    rules = _rules()
    return any(_sends(rules, method, url, kind, data) for url in urls or ["http:///"])


def _sends(rules: ModuleType, method: str, url: str, kind: str, data: str) -> bool:
    whole = urlsplit(url)
    target = whole.path + (f"?{whole.query}" if whole.query else "")
    host = whole.hostname or ("localhost" if "///" in url else "")
    headers = {"content-type": kind}
    return bool(rules.sends(method, host, target, headers, data.encode("utf-8", "replace")))


def _rules() -> ModuleType:
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "request_rules.py")
    spec = importlib.util.spec_from_file_location("request_rules", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def note(kind: str, what: str) -> None:
    """Append a line to the job's file."""
    line = json.dumps([kind, what, os.environ.get(LINE, "")]) + "\n"
    with contextlib.suppress(OSError):
        descriptor = os.open(
            os.environ.get(FILE, ""), os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600
        )
        try:
            os.write(descriptor, line.encode("utf-8", "replace"))
        finally:
            os.close(descriptor)


def _answer(program: str, arguments: Sequence[str]) -> None:
    words = _command(program, arguments)
    hosts = {urlsplit(each).hostname or "" for each in arguments if "://" in each}
    if program in REQUESTS:
        note("request", " ".join([program, *sorted(hosts)]))
        if not any(re.match(r"-[sSfLk]*[oO]|--output", each) for each in arguments):
            sys.stdout.write("200" if any("http_code" in each for each in arguments) else _BODY)
    elif program in _MAIL:
        note("mail", program)
    else:
        note("push", " ".join([program, *words[:1]]) if SENDS.get(program) else program)


def main() -> None:
    """Answer, or become the real program."""
    program, *arguments = sys.argv[1:]
    own = os.environ.get(PROGRAMS, "")
    try:
        held = sends(program, arguments)
    except Exception:
        held = False  # our failure: the job's command goes on
    if held:
        _answer(program, arguments)
        return
    folders = [each for each in os.environ.get("PATH", os.defpath).split(os.pathsep) if each != own]
    for folder in folders:
        path = os.path.join(folder or ".", program)
        if os.path.isfile(path) and os.access(path, os.X_OK):
            os.execv(path, [path, *arguments])
    sys.exit(f"{program}: command not found")


if __name__ == "__main__":
    main()
