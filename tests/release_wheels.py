# ruff: noqa: E501  (patterns stay in one piece)
# mypy: ignore-errors
# pyright: basic, reportMissingImports=false
"""The wheels of a package, release by release, of which only what is asked for is fetched."""

import ast
import io
import re
import tarfile
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pip._internal.models.index import PyPI
from pip._internal.network.lazy_wheel import LazyZipOverHTTP
from pip._internal.network.session import PipSession

FOLDER = Path(__file__).parents[1] / "tpudiag" / "known_errors" / "releases"
Release = tuple[int, ...]
BY_PATCH = ("jax", "jaxlib", "chex", "optax", "flax", "orbax-checkpoint", "ml-dtypes")
"""Those whose third number is that of a release."""
OLDEST: dict[str, Release] = {"tensorflow": (1, 4), "keras": (2, 1), "numpy": (1, 14), "jax": (0, 2), "transformers": (3,),
                              "jaxlib": (0, 1, 60), "protobuf": (3, 6), "tensorboard": (1, 13)}  # fmt: skip


@dataclass
class Wheel:
    """A release of a package: its files, and where they are."""

    release: Release
    url: str


class Registry:
    """The packages' index, through pip's own client."""

    def __init__(self) -> None:
        self.session = PipSession(retries=3)

    def wheels(self, package: str) -> list[Wheel]:
        """The final releases of a package, oldest first."""
        accept = {"Accept": "application/vnd.pypi.simple.v1+json"}
        files = self.session.get(f"{PyPI.simple_url}/{package}/", headers=accept).json()["files"]
        by_release: dict[Release, Wheel] = {}
        for each in files:
            name: str = each["filename"]
            parts = name.removesuffix(".whl").split("-")
            if name.endswith(".tar.gz"):
                parts = name.removesuffix(".tar.gz").rsplit("-", 1)
            if (
                not name.endswith((".whl", ".tar.gz"))
                or each.get("yanked")
                or not re.fullmatch(r"\d+(\.\d+){1,2}(\.post\d)?", parts[1])
            ):
                continue
            release = tuple(map(int, parts[1].split(".post")[0].split(".")))
            if release < OLDEST.get(package, ()):
                continue
            wheel = by_release.setdefault(release, Wheel(release, ""))
            if not wheel.url or wheel.url.endswith(".gz") or "manylinux" in name:
                wheel.url = each["url"]
        return [by_release[release] for release in sorted(by_release)]

    def archive(self, wheel: Wheel) -> zipfile.ZipFile:
        """A wheel, of which only what is read is fetched; of an older release its source."""
        if wheel.url.endswith(".gz"):
            held = zipfile.ZipFile(io.BytesIO(), "w")
            with tarfile.open(fileobj=io.BytesIO(self.session.get(wheel.url).content)) as source:
                for each in source:
                    if each.name.endswith(".py") and (file := source.extractfile(each)):
                        held.writestr(each.name.partition("/")[2].removeprefix("src/"), file.read())
            return held
        return zipfile.ZipFile(LazyZipOverHTTP(wheel.url, self.session))  # type: ignore[arg-type]


def contents(archive: zipfile.ZipFile, wanted: re.Pattern[str]) -> Iterator[tuple[str, str]]:
    """The files of a wheel whose path is wanted, those near each other in one request."""
    files = sorted(
        (each for each in archive.infolist() if wanted.search(each.filename)),
        key=lambda one: one.header_offset,
    )
    stream: Any = archive.fp
    for at in range(0, len(files), 60):
        some = files[at : at + 60]
        start, end = some[0].header_offset, some[-1].header_offset + some[-1].compress_size + 400
        if end - start < 8_000_000:
            stream.seek(start)
            stream.read(end - start)
        yield from ((each.filename, archive.read(each).decode(errors="replace")) for each in some)


def bound(source: str, *, whole: bool = True) -> set[str]:
    """The public names that a module binds; where it is not a `whole` package, no mere imports."""
    try:
        tree = ast.parse(source)
    except SyntaxError:  # Python 2
        return set(
            re.findall(
                r"^(?:from [\w.]+ import (?:\w+ as )?|def |class )([a-zA-Z]\w*)",
                source,
                re.MULTILINE,
            )
        )
    names: set[str] = set()
    blocks = [tree.body]
    while blocks:
        for node in blocks.pop():
            match node:
                case ast.If() | ast.Try():
                    blocks += [node.body, node.orelse]
                case ast.ImportFrom() | ast.Import():
                    names |= {
                        (each.asname or each.name)
                        for each in node.names
                        if whole or each.asname == each.name
                    }
                case ast.FunctionDef() | ast.ClassDef():
                    names.add(node.name)
                case ast.Assign(targets=[ast.Name(id="_deprecations")], value=ast.Dict() as table):
                    pairs = zip(table.keys, table.values, strict=True)
                    names |= {
                        key.value
                        for key, value in pairs
                        if isinstance(key, ast.Constant) and _is_there(value)
                    }  # type: ignore[misc]
                case ast.Assign():
                    names |= {each.id for each in node.targets if isinstance(each, ast.Name)}
                case _:
                    pass
    return {name for name in names if not name.startswith("_") and "." not in name and name != "*"}


def _is_there(deprecated: ast.expr) -> bool:
    """Whether a deprecated name still is one: without a value its use raises."""
    return not (isinstance(deprecated, ast.Tuple) and ast.unparse(deprecated.elts[-1]) == "None")


def dotted(path: str) -> str:
    """A module by its path."""
    return path.removesuffix("__init__").strip("/").replace("/", ".")


def series(package: str, release: Release) -> Release:
    """The releases that are told as one."""
    return release[: 3 if package in BY_PATCH else 2]


def spelled(release: Release) -> str:
    """A release as people write it."""
    return ".".join(map(str, release))
