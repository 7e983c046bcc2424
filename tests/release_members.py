# ruff: noqa: E501  (patterns stay in one piece)
# mypy: ignore-errors
# pyright: basic, reportMissingImports=false
"""Writes which methods and attributes of the field's classes came or went with which release.

    uv run --no-project --with pip python tests/release_members.py      # in some ten minutes

Read from wheels as by release_facts.py. What comes of it is
tpudiag/known_errors/releases/members.txt: a public class, or one made of such, a row, in brackets
the classes that it is made of, and by the releases what it has itself.
"""

import ast
import builtins
import re
from collections import abc, defaultdict
from collections.abc import Iterator
from functools import cache, cached_property

from release_wheels import FOLDER, Registry, Release, bound, contents, series, spelled

READ = {
    "keras": r"^keras/.*\.py$",
    "tensorflow": r"(?:^|/)tensorflow(?:_core)?/python/(?:data/ops|distribute|framework/(?:ops|tensor)|module|ops/(?:variables|resource_variable_ops|ragged/ragged_tensor)|trackable|training|checkpoint|eager)[\w/]*\.py$",
    "flax": r"^flax/.*\.py$",
    "tensorflow-datasets": r"^tensorflow_datasets/core/.*\.py$",
}  # fmt: skip
KERAS_WITHIN = r"(?:^|/)tensorflow(?:_core)?/python/keras/.*\.py$"
"""Keras of before 2.6, which TensorFlow holds."""
FIRST_OF_TENSORFLOW, FIRST_OF_KERAS = (1, 14), (2, 6)
SKIPPED = re.compile(
    r"(?:^|[/_])tests?(?:[/_.]|$)|testing|conftest|/applications/|benchmark|_pb2|/examples/|"
    r"/(?:mosaic|pallas|triton|legacy/saving|src/applications|src/ops/(?!function|operation)|datasets|configurations|version_utils)\b"
)
NOT_TOLD = {"Config", "Dict", "Function", "Graph", "Operation", "Tensor", "TensorSpec"}
"""Classes that many programs have one of, and those of which parts are not in the wheel's Python."""
Members = dict[str, set[str]]
Span = tuple[Release, Release]
ALWAYS: Span = ((), ())
"""Of what a base lost or won, and a class made of it has had all along."""


def classes(source: str) -> Iterator[tuple[str, list[str], set[str], bool]]:
    """The classes of a module: name, bases, members, and whether it is exported by a decorator."""
    try:
        tree = ast.parse(source)
    except SyntaxError:  # Python 2
        return
    for node in ast.walk(tree):
        if isinstance(node, ast.ClassDef):
            bases = [each.value if isinstance(each, ast.Subscript) else each for each in node.bases]
            # `_BatchDataset` was BatchDataset, and `_Conv` is what Conv is made of.
            names = [ast.unparse(each).rpartition(".")[2].lstrip("_") for each in bases]
            exported = any("_export(" in ast.unparse(each) for each in node.decorator_list)
            yield node.name.lstrip("_"), names, held(node), exported


def held(node: ast.ClassDef) -> set[str]:
    """The public members of a class; behind a dot those that only its methods set."""
    found: set[str] = set()
    for each in node.body:
        if isinstance(each, (ast.FunctionDef, ast.AsyncFunctionDef)):
            found.add(each.name)
            found |= {
                f".{of.attr}"
                for of in ast.walk(each)
                if isinstance(of, ast.Attribute)
                and isinstance(of.ctx, ast.Store)
                and ast.unparse(of.value) == "self"
            }
        elif isinstance(each, (ast.Assign, ast.AnnAssign)):
            targets = each.targets if isinstance(each, ast.Assign) else [each.target]
            found |= {to.id for to in targets if isinstance(to, ast.Name)}
    return {name for name in found if not name.lstrip(".").startswith("_")}


def within(span: Span, releases: list[Release]) -> Span:
    """A span without the ends that are those of a class."""
    first, last = span
    return first if first > releases[0] else (), last if last < releases[-1] else ()


class Package:
    """What the classes of a package have, by release."""

    def __init__(self) -> None:
        self.own: dict[Release, Members] = {}
        self.named: Members = defaultdict(set)
        """By class the names of its bases: of several classes of one name, all of them."""
        self.defined: Members = defaultdict(set)
        """What others than its own methods may set is left out: who knows since when it is there."""
        self.public: set[str] = set()

    def read(
        self, registry: Registry, package: str, wanted: str, first: Release, end: Release = (99,)
    ) -> None:
        """Take in the newest wheel of each release from `first` to before `end`."""
        wheels = [each for each in registry.wheels(package) if first <= each.release < end]
        for release, wheel in {series(package, each.release): each for each in wheels}.items():
            own: Members = defaultdict(set)
            also: set[tuple[str, str]] = set()
            with registry.archive(wheel) as archive:
                for path, source in contents(archive, re.compile(wanted)):
                    if SKIPPED.search(path):
                        continue
                    if path.endswith("__init__.py"):
                        self.public |= bound(source)
                    also |= set(re.findall(r"^\s+(?:from .* import )?(\w+) as (\w+)", source, re.M))
                    for name, bases, members, exported in classes(source):
                        own[name] |= {member.lstrip(".") for member in members}
                        # What Python's own Mapping, list, Exception ... has was always there.
                        for base in bases:
                            own[name] |= set(
                                dir(vars(abc).get(base, vars(builtins).get(base, object)))
                            )
                        self.defined[name] |= members
                        self.named[name] |= set(bases) - {name, ""}
                        self.public |= {name} if exported else set()
            for name, other in also:  # one name for the classes of each backend
                if name in own and other in own:
                    own[other] |= own[name]
            if own:
                self.own.setdefault(release, own)
        print(package, *map(spelled, self.own))

    @cached_property
    def bases(self) -> Members:
        """By class its bases, without those that would make it one of its own."""
        self.__dict__["bases"] = kept = defaultdict(set)
        for name in sorted(self.named):
            for base in sorted(self.named[name]):
                if name not in self.above(base):
                    kept[name].add(base)
        return kept

    def above(self, name: str) -> list[str]:
        """The classes that a class is made of, the nearest first."""
        found: list[str] = []
        level = [name]
        while level := [base for each in level for base in sorted(self.bases.get(each, ()))]:
            level = [each for each in level if each not in (*found, name)]
            found += dict.fromkeys(level)
        return found

    def spans(self) -> dict[str, dict[str, Span]]:
        """By class: the first and last release of its members, where its bases tell another one."""
        releases = sorted(self.own)
        told: dict[str, dict[str, Span]] = {}

        @cache
        def span(name: str, member: str) -> Span:
            at = [each for each in releases if name in self.own[each]]
            line = (name, *self.above(name))
            there = [
                each for each in at if any(member in self.own[each].get(of, ()) for of in line)
            ]
            return within((there[0], there[-1]) if there else ALWAYS, at)

        names = {each for own in self.own.values() for each in own}
        for name in sorted(names, key=lambda each: len(self.above(each))):
            inherited: dict[str, Span] = {}
            for base in reversed(self.above(name)):
                inherited |= told.get(base, {})
            at = [each for each in releases if name in self.own[each]]
            inherited = {member: within(held, at) for member, held in inherited.items()}
            told[name] = {
                member: held
                for member in sorted(self.defined[name].union(inherited))
                if member[0] != "."
                and (held := span(name, member)) != inherited.get(member, ALWAYS)
            }
        return told

    def rows(self) -> Iterator[str]:
        """`Class,Class(Base,Base) first-last member,member ...`: a row for classes that are alike."""
        spans = self.spans()
        known = {name for name in spans if self.public.intersection((name, *self.above(name)))}
        alike: dict[str, list[str]] = defaultdict(list)
        for name in sorted(known - NOT_TOLD):
            if any("Optimizer" in each for each in (name, *self.above(name))):
                continue  # 2.11 to 2.15 hold two of each name
            by_span: dict[Span, list[str]] = defaultdict(list)
            for member, span in spans[name].items():
                by_span[span].append(member)
            row = f"({','.join(each for each in self.above(name) if spans.get(each))})"
            for (first, last), members in sorted(by_span.items()):
                row += f" {spelled(first)}-{spelled(last)} {','.join(members)}"
            alike[row].append(name)
        yield from (f"{','.join(names)}{row}" for row, names in alike.items() if row != "()")


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
