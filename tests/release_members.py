# ruff: noqa: E501  (patterns stay in one piece)
# mypy: ignore-errors
# pyright: basic, reportMissingImports=false
"""Writes which methods and attributes of the field's classes came or went with which release.

    uv run --no-project --with pip python tests/release_members.py      # in some ten minutes

Read from wheels as in release_facts.py. What comes of it is
tpudiag/known_errors/releases/members.txt: a public class, or one made of such, a row, in brackets
the classes that it is made of, and by the releases what it has itself.
"""

import ast
import re
from collections import defaultdict
from collections.abc import Iterator
from functools import cache

from release_facts import FOLDER, Registry, Release, bound, contents, series, spelled

READ = {
    "keras": r"^keras/.*\.py$",
    "tensorflow": r"(?:^|/)tensorflow(?:_core)?/python/(?:data/ops|distribute|framework/(?:ops|tensor)|module|ops/(?:variables|resource_variable_ops|ragged/ragged_tensor)|trackable|training|checkpoint|eager)[\w/]*\.py$",
    "jax": r"^jax/.*\.py$",
    "flax": r"^flax/.*\.py$",
    "optax": r"^optax/.*\.py$",
    "orbax-checkpoint": r"^orbax/.*\.py$",
    "tensorflow-datasets": r"^tensorflow_datasets/core/.*\.py$",
    "transformers": r"^transformers/(?:modeling|tokenization|trainer|training_args|generation|configuration|optimization|feature_extraction|image_processing|processing)\w*(?:/\w+)?\.py$",
}  # fmt: skip
KERAS_WITHIN = r"(?:^|/)tensorflow(?:_core)?/python/keras/.*\.py$"
"""Keras of before 2.6, which TensorFlow holds."""
FIRST_OF_TENSORFLOW, FIRST_OF_KERAS = (1, 14), (2, 6)
SKIPPED = re.compile(
    r"(?:^|[/_])tests?(?:[/_.]|$)|testing|conftest|/applications/|benchmark|_pb2|/examples/|"
    r"/(?:mosaic|pallas|triton|legacy/saving|src/(?:applications|ops)|datasets|configurations|version_utils)\b"
)
Members = dict[str, set[str]]


def classes(source: str) -> Iterator[tuple[str, list[str], set[str], bool]]:
    """The classes of a module: name, bases, members, and whether it is exported by a decorator."""
    try:
        tree = ast.parse(source)
    except SyntaxError:  # Python 2
        return
    for node in ast.walk(tree):
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
            bases = [each.value if isinstance(each, ast.Subscript) else each for each in node.bases]
            names = [ast.unparse(each).rpartition(".")[2] for each in bases]
            exported = any("_export(" in ast.unparse(each) for each in node.decorator_list)
            yield node.name, names, held(node), exported


def held(node: ast.ClassDef) -> set[str]:
    """The public members of a class."""
    found: set[str] = set()
    for each in node.body:
        if isinstance(each, (ast.FunctionDef, ast.AsyncFunctionDef)):
            found.add(each.name)
            found |= {
                of.attr
                for of in ast.walk(each)
                if isinstance(of, ast.Attribute)
                and isinstance(of.ctx, ast.Store)
                and ast.unparse(of.value) == "self"
            }
        elif isinstance(each, (ast.Assign, ast.AnnAssign)):
            targets = each.targets if isinstance(each, ast.Assign) else [each.target]
            found |= {to.id for to in targets if isinstance(to, ast.Name)}
    return {name for name in found if not name.startswith("_")}


class Package:
    """What the classes of a package have, by release."""

    def __init__(self) -> None:
        self.own: dict[Release, Members] = {}
        self.bases: dict[str, set[str]] = defaultdict(set)
        self.public: set[str] = set()

    def read(
        self, registry: Registry, package: str, wanted: str, first: Release, end: Release = (99,)
    ) -> None:
        """Take in the newest wheel of each release from `first` to before `end`."""
        wheels = [each for each in registry.wheels(package) if first <= each.release < end]
        for release, wheel in {series(package, each.release): each for each in wheels}.items():
            own: Members = defaultdict(set)
            with registry.archive(wheel) as archive:
                for path, source in contents(archive, re.compile(wanted)):
                    if SKIPPED.search(path):
                        continue
                    if path.endswith("__init__.py"):
                        self.public |= bound(source)
                    for name, bases, members, exported in classes(source):
                        own[name] |= members
                        self.bases[name] |= set(bases) - {name, ""}
                        self.public |= {name} if exported else set()
            if own:
                self.own.setdefault(release, own)
        print(package, *map(spelled, self.own))

    def above(self, name: str) -> list[str]:
        """The classes that a class is made of, the nearest first."""
        found: list[str] = []
        level = [name]
        while level := [base for each in level for base in sorted(self.bases.get(each, ()))]:
            level = [each for each in level if each not in (*found, name)]
            found += dict.fromkeys(level)
        return found

    def spans(self) -> dict[str, dict[tuple[str, str], list[str]]]:
        """By class and by the first and last release: the members of itself that came or went."""
        releases = sorted(self.own)

        @cache
        def span(name: str, member: str) -> tuple[str, str]:
            held = [at for at in releases if name in self.own[at]]
            line = (name, *self.above(name))
            there = [at for at in held if any(member in self.own[at].get(of, ()) for of in line)]
            first = spelled(there[0]) if there and there[0] != held[0] else ""
            return first, spelled(there[-1]) if there and there[-1] != held[-1] else ""

        told: dict[str, dict[tuple[str, str], list[str]]] = {}
        for name in sorted({each for own in self.own.values() for each in own}):
            by_span: dict[tuple[str, str], list[str]] = defaultdict(list)
            for member in sorted({each for own in self.own.values() for each in own.get(name, ())}):
                held = span(name, member)
                if any(held) and all(span(of, member) != held for of in self.above(name)):
                    by_span[held].append(member)
            told[name] = by_span
        return told

    def rows(self) -> Iterator[str]:
        """A class a row: `Class(Base,Base) first-last member,member first-last member ...`."""
        spans = self.spans()
        known = {name for name in spans if self.public.intersection((name, *self.above(name)))}
        for name, by_span in ((name, spans[name]) for name in sorted(known)):
            above = [each for each in self.above(name) if spans.get(each)]
            if by_span or above:
                rows = (f" {a}-{b} {','.join(names)}" for (a, b), names in sorted(by_span.items()))
                yield f"{name}({','.join(above)}){''.join(rows)}"


def main() -> None:
    """Writes the file."""
    registry = Registry()
    rows: list[str] = []
    for package, wanted in READ.items():
        read = Package()
        if package == "keras":
            read.read(registry, "tensorflow", KERAS_WITHIN, FIRST_OF_TENSORFLOW, FIRST_OF_KERAS)
        first = {"keras": FIRST_OF_KERAS, "tensorflow": FIRST_OF_TENSORFLOW}.get(package, ())
        read.read(registry, package, wanted, first)
        rows += [f"[{package}]", *read.rows()]
    (FOLDER / "members.txt").write_text("".join(f"{row}\n" for row in rows), encoding="utf-8")


if __name__ == "__main__":
    main()
