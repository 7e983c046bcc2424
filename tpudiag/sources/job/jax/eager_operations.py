"""Operations that run one by one between training steps: what is called outside jax.jit."""

from collections import Counter
from types import CodeType

from tpudiag.model import Location
from tpudiag.signals import EagerForward
from tpudiag.sources.job.jax.equations import PRODUCTS
from tpudiag.sources.job.points import Call, Library, barrier, hooks, table, user_lines
from tpudiag.sources.job.points.step_loop import StepLoop


class EagerOperations:
    """Counts them by the line that calls into a library, or makes them itself."""

    def __init__(self) -> None:
        self._steps = 0
        self._products: Counter[Location] = Counter()
        self._operations: Counter[Location] = Counter()
        self._programs: Counter[Location] = Counter()
        self._last_programs: Counter[Location] = Counter()
        self._last: Counter[Location] = Counter()
        """Products since the last step; past the last of all the job calls its model once more."""
        self._loop: frozenset[CodeType] = frozenset()
        """The job's own code that called the last training step."""
        self._around = StepLoop()

    def watch(self, jax: Library) -> None:
        """Hook what runs a single operation."""
        hooks.around(table.JAX_OPERATION_RUN, self._runs, jax)

    def stepped(self) -> None:
        """A training step ran."""
        self.answered()
        own = (f for f in user_lines.frames() if user_lines.of_frame(f) is not None)
        self._loop = frozenset(frame.f_code for frame in own)
        self._around.stepped()

    def answered(self) -> None:
        """A training step was called for."""
        self._steps += 1
        self._products += self._last
        self._programs += self._last_programs
        self._last.clear()
        self._last_programs.clear()

    def compiled(self) -> None:
        """A program was compiled outside all functions of the job's: of one operation."""
        in_loop = self._steps and self._around.holds_caller(always=True)
        location = self._outermost_call() if in_loop else None
        if location is not None:
            self._last_programs[location] += 1

    def _runs(
        self, original: Call, trace: object, primitive: object, *args: object, **named: object
    ) -> object:
        if self._steps:
            barrier.attempt("eager operation", self._ran, str(primitive) in PRODUCTS)
        return original(trace, primitive, *args, **named)

    def _ran(self, product: bool = True) -> None:
        """An operation, or a product: one of those that a model is made of."""
        location = self._outermost_call()
        if location is not None:
            self._last[location] += product
            self._operations[location] += 1

    def facts(self) -> EagerForward | None:
        """The line that runs most of them, or for which most programs were compiled."""
        counted = self._products or self._programs
        if not counted:
            return None
        location = counted.most_common(1)[0][0]
        return EagerForward(
            self._products[location],
            self._operations[location],
            self._steps,
            location,
            self._programs[location],
        )

    def _outermost_call(self) -> Location | None:
        """The line that first called a library on the way here, or the innermost of the job's.

        It is looked for from the code on that trains: what calls that may be a library, too.
        """
        stack, location = [*user_lines.frames()], None
        depth = next((n for n, each in enumerate(stack, 1) if each.f_code in self._loop), None)
        for each in reversed(stack[:depth]):
            own = user_lines.of_frame(each)
            if own is None and location is not None:
                break
            location = own or location
        return location
