"""What of the rehearsal a job ended by."""

import errno
import json
import os
import socket
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tpudiag.model import Location
from tpudiag.script_run import Isolation
from tpudiag.signals import Refusal, RefusedBy
from tpudiag.sources.job.held_back import refusals
from tpudiag.sources.job.held_back.answers import BODY, MARK, Answer
from tpudiag.sources.job.held_back.layer import Layer

OVER = Layer("/nowhere", lambda _: True)


def of(
    error: BaseException, layer: Layer = OVER, way: Isolation = "landlock", offline: bool = False
) -> RefusedBy | None:
    found = refusals.of(error, layer, set[Location](), way, offline)
    return found.by if found is not None else None


def test_what_the_users_own_rights_let_write_is_refused_by_the_wall(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    denied = PermissionError(errno.EACCES, "Permission denied", str(tmp_path / "model.h5"))
    assert of(denied) is RefusedBy.WALL
    assert of(denied, way="none") is None
    of_tensorflow = RuntimeError(f"{tmp_path}/events.out; Permission denied")
    assert of(of_tensorflow) is RefusedBy.WALL
    assert of(RuntimeError("unable to open database file")) is RefusedBy.WALL
    wrapped = ValueError("could not save")
    wrapped.__cause__ = denied
    assert of(wrapped) is RefusedBy.WALL
    assert of(ValueError("no")) is None

    def access(path: str, mode: int) -> bool:  # noqa: ARG001
        return False

    monkeypatch.setattr(os, "access", access)
    assert of(denied) is None, "of another user, with the wall or without"


def test_what_no_layer_lies_over_is_refused_by_the_rehearsal() -> None:
    def over_layers(number: int, path: str) -> Refusal | None:
        error = OSError(number, os.strerror(number), path)
        layer = Layer("/nowhere", lambda _: False)
        return refusals.of(error, layer, set(), "overlay", False)

    for number, path in ((errno.EROFS, "/dev/null"), (errno.EOVERFLOW, "/data/shared.csv")):
        refused = over_layers(number, path)
        assert refused is not None and refused.by is RefusedBy.WALL
    assert over_layers(errno.EROFS, "/mnt/cdrom/a") is None


@pytest.mark.parametrize("way", ["overlay", "landlock"])
def test_what_is_held_back_lies_where_there_may_be_no_room(way: Isolation) -> None:
    layer = Layer("/nowhere", lambda _: False)
    for error in (
        OSError(errno.ENOSPC, "No space left on device", "a.bin"),
        RuntimeError("ckpt-1.index; No space left on device [Op:SaveV2]"),
        subprocess.CalledProcessError(1, "cp", stderr=b"cp: a: Disk quota exceeded"),
    ):
        found = refusals.of(error, layer, set(), way, False)
        assert found is not None and found.by is RefusedBy.ROOM
        assert refusals.of(error, layer, set(), "none", False) is None


def test_a_program_that_ends_behind_the_wall_may_have_met_it() -> None:
    def ended(stderr: bytes | None) -> RefusedBy | None:
        return of(subprocess.CalledProcessError(128, "git commit", stderr=stderr))

    assert ended(None) is RefusedBy.WALL
    assert ended(b"fatal: cannot lock ref: Permission denied") is RefusedBy.WALL
    assert ended(b"nothing to commit") is None
    assert of(subprocess.CalledProcessError(1, "false"), way="none") is None


def test_a_file_that_only_the_layer_has_is_missed_by_the_wall(tmp_path: Path) -> None:
    layer = Layer(str(tmp_path / "layer"), lambda _: True)
    written = tmp_path / "written.bin"
    missed = FileNotFoundError(errno.ENOENT, "No such file or directory", str(written))
    assert of(missed, layer) is None
    Path(str(layer.made(str(written)))).write_text("")
    assert of(missed, layer) is RefusedBy.WALL


def test_a_network_is_missed_offline_alone() -> None:
    no_name = socket.gaierror(-2, "Name or service not known")
    unreachable = OSError(errno.ENETUNREACH, "unreachable")
    for error in (no_name, unreachable, ValueError("Couldn't resolve host")):
        assert of(error, offline=True) is RefusedBy.OFFLINE
        assert of(error) is None


def test_an_error_over_an_answer_of_ours_is_ours() -> None:
    class Response:
        def __init__(self, headers: dict[str, str]) -> None:
            self.headers = headers

    def fails(answer: Any, kept: Any = None) -> BaseException:
        try:
            raise KeyError(f"id of {type(answer).__name__}")
        except KeyError as error:
            assert kept is None or kept
            return error

    assert of(fails(Response({MARK: "1"})), way="none") is RefusedBy.ANSWER
    assert of(fails(Answer("not-sent")), way="none") is RefusedBy.ANSWER
    assert of(fails(json.loads(BODY)), way="none") is RefusedBy.ANSWER
    assert of(fails(Response({})), way="none") is None
    assert of(fails(3, kept=Response({MARK: "1"})), way="none") is None, "of another line"


def test_an_error_in_a_line_that_sent_is_ours() -> None:
    try:
        raise KeyError("id")
    except KeyError as error:
        assert error.__traceback__ is not None
        here = Location(__file__, error.__traceback__.tb_lineno)
        from tpudiag.sources.job.points import user_lines

        at = user_lines.of(__file__, here.line or 0)
        assert at is not None
        layer = Layer("/nowhere")
        found = refusals.of(error, layer, {at}, "none", False)
        assert found is not None and found.by is RefusedBy.ANSWER and found.location == at
        assert refusals.of(error, layer, {Location("x.py", 1)}, "none", False) is None
