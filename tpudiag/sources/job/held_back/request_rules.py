"""Decides which requests send, from HTTP itself and the usual interfaces over it.

A request sends where its method says so, unless its operation reads: many interfaces read by POST
(GraphQL, SQL, remote calls, tokens). No service is named here.
"""

import ipaddress
import json
import re
import socket
from collections.abc import Mapping
from typing import cast
from urllib.parse import parse_qsl, unquote, urlsplit

LIMIT_BYTES = 256 * 1024
"""A larger body sends: no query is that long."""
SAFE = ("GET", "HEAD", "OPTIONS", "TRACE", "CONNECT", "PROPFIND", "REPORT", "SEARCH", "QUERY")
_READS = re.compile(
    r"(?i:(batch[-_]?)?(get|list|describe|query|queries|m?search|count|scan|select|download|read|fetch"
    r"|find|lookup|head|resolve|paths-info|tree|info|token|tokens|oauth2?|generate(Access|Id)Token"
    r"|sign(Blob|Jwt)|assume|verify|validate|introspect|login|whoami|explain|aggregate))(?![a-z])"
)
"""Prefixes of reading operations; a token only permits its later requests."""
SENDS = re.compile(
    r"(?i:(batch[-_]?)?(send|post|create|delete|update|upload|publish|notify|trigger|insert|write|commit"
    r"|push|preupload|submit|put|set|add|remove|import|export|register|log))(?![a-z])"
)
"""Prefixes of sending ones."""
_OPENS = re.compile(
    r"(?i:(batch)?(create|delete|begin|open)[a-z]*?(sessions?|transaction)|(streaming)?pull"
    r"|run\w*query)$"
)
"""Sessions and transactions also begin reads; writes in one are recognised themselves."""
_CALL = re.compile(r"(send|post|create|delete|update|upload|publish|notify|trigger)(?=[A-Z])")
"""A remote call by its name in camel case; by GET, too, as chat bots send."""
_CHANGES = re.compile(
    r"(^|[;}])\s*(mutation|insert|update|delete|merge|create|drop|alter|truncate|call|export|load"
    r"|grant|replace)\b",
    re.I,
)
"""A statement in SQL or GraphQL that changes something."""


def kind(method: str, target: str) -> str:
    """Whether a request sends a file, the removal of one, or anything else: a SendKind's value."""
    if method.upper() == "PUT" or re.search(r"/upload\b|[?&]upload", target, re.I):
        return "upload"
    return "deletion" if method.upper() == "DELETE" else "request"


def is_own(host: str) -> bool:
    """Whether a host is this machine: loopback, or its metadata's link-local address."""
    name = host.strip("[]").rstrip(".").lower()
    own = ("", "localhost", socket.gethostname().lower())
    if name in own or name.endswith(".localhost"):
        return True
    try:
        address = ipaddress.ip_address(name.partition("%")[0])
    except ValueError:
        return False
    return address.is_loopback or address.is_link_local or address.is_unspecified


def sends(method: str, host: str, target: str, headers: Mapping[str, str], body: bytes) -> bool:
    """Whether a request sends something; `body` is its known part or beginning."""
    if is_own(host):
        return False
    names = [unquote(part) for part in re.split(r"[/:]", urlsplit(target).path) if part]
    if method.upper() in SAFE:
        return bool(names and _CALL.match(names[-1]))
    if method.upper() != "POST" or len(body) > LIMIT_BYTES:
        return True
    verdict = _judged_by_body(body, headers.get("content-type", ""))
    if verdict is None:
        verdict = _judged_by_names([headers.get("x-amz-target", "").rpartition(".")[2]])
    if verdict is None:
        verdict = _judged_by_names([name.rpartition(".")[2] for name in names])
    return verdict is not False


def names_sending(name: str) -> bool:
    """Whether a remote call sends, judged by its name; unless that says that it reads."""
    return _judged_by_names([name]) is not False


def _judged_by_body(body: bytes, kind: str) -> bool | None:
    """Whether the operation in a body sends; None where there is none."""
    fields = _fields(body, kind)
    if "grant_type" in fields:
        return False  # requests a token (RFC 6749)
    for name in ("query", "statement", "sql"):
        text = fields.get(name)
        if isinstance(text, dict):  # a search engine's query, or a database's job
            text = cast("dict[str, object]", text).get("query", "")
        if isinstance(text, str) and text:
            return bool(_CHANGES.search(re.sub(r"(--|#)[^\n]*", "", text)))
    named = (fields.get(name) for name in ("Action", "operation", "method"))
    return _judged_by_names([name for name in named if isinstance(name, str)])


def _judged_by_names(names: list[str]) -> bool | None:
    """Whether the last operation among some names sends; None where there is none."""
    for name in reversed(names):
        if _OPENS.match(name):
            return False
        if SENDS.match(name.lstrip("_")):
            return True
        if _READS.match(name.lstrip("_")):
            return False
    return None


def _fields(body: bytes, kind: str) -> dict[str, object]:
    text = body.decode("utf-8", "replace").strip()
    if text.startswith("{"):
        try:
            found = json.loads(text)
        except ValueError:
            return {}
        known = cast("dict[str, object]", found) if _is(found) else {}
        configuration = known.get("configuration")
        return (
            {**cast("dict[str, object]", configuration), **known} if _is(configuration) else known
        )
    return dict(parse_qsl(text)) if "form" in kind and "multipart" not in kind else {}


def _is(value: object) -> bool:
    return isinstance(value, dict)
