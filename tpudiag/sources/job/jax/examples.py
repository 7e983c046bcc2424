"""Which dimension of a step's data counts examples, where it is not the first of what it gets."""

from collections.abc import Set

from tpudiag.sources.job.jax.programs import Equation, Follower, Place, Program, carried, within

_DRAWS = ("gather", "dynamic_slice")
_LEADS = 2
"""Leading dimensions by which data are known again in what is made of them."""


class Examples(Follower[int | None]):
    """Followed is the argument, by its number, of which a value has the leading dimensions."""

    def __init__(self, program: Program, state: Set[int], of_steps: Set[int]) -> None:
        """`state` are the arguments of training, by their number; steps get parts of others."""
        shapes = [tuple(variable.aval.shape) for variable in program.invars]
        self._data = {n: s for n, s in enumerate(shapes) if s and n not in state | of_steps}
        self._state = {shape for n, shape in enumerate(shapes) if shape and n in state}
        self.drawn: dict[int, int] = {}
        """How many examples the step draws, of an argument that it only draws from."""
        self.accumulated: set[int] = set()
        """Arguments of whose parts a loop sums the gradients."""
        self._of_times: set[int] = set()
        """Those whose first dimension is time: a loop carries a state of each example along it."""
        whole = self._whole = set[int]()
        numbers = range(len(shapes))
        self.follow(program, [number if number in self._data else None for number in numbers])
        self.drawn = {n: rows for n, rows in self.drawn.items() if n not in whole}
        self.accumulated -= self._of_times
        self.second = self.accumulated | self._of_times
        """Arguments whose examples are along their second dimension."""

    nothing = None

    def made(self, equation: Equation, given: list[int | None], _place: Place) -> list[int | None]:
        """What has the leading dimensions of an argument, too."""
        name, known = str(equation.primitive), {n for n in given if n is not None}
        if name == "scan":
            self._loop(equation, given)
        if within(equation) or not known:
            return [None] * len(equation.outvars)
        first = given[0]
        of_argument = first is not None and equation.invars[0].aval.shape == self._data[first]
        if name in _DRAWS and first is not None and of_argument and (rows := _rows(equation)):
            self.drawn[first] = max(rows, self.drawn.get(first, 0))
            return [None]
        self._whole |= known
        source = min(known)
        lead = self._data[source][:_LEADS]
        kept = name != "transpose"
        made = (v.aval.shape[:_LEADS] == lead for v in equation.outvars)
        return [source if kept and same else None for same in made]

    def enters(
        self, equation: Equation, _program: Program, given: list[int | None]
    ) -> list[int | None]:
        """The turns of a loop get parts of what it goes through."""
        if str(equation.primitive) != "scan":
            return given
        whole = carried(equation)[1]
        return [*given[:whole], *(None for _ in given[whole:])]

    def _loop(self, equation: Equation, given: list[int | None]) -> None:
        """A loop goes through the leading dimension of arguments, or of what is made of them."""
        first, after = carried(equation)
        through = {n for n in given[after:] if n is not None}
        self._whole |= through
        avals = (variable.aval for variable in equation.invars[first:after])
        states = {tuple(aval.shape) for aval in avals if "float" in str(aval.dtype)}
        sizes = {self._data[n][1:_LEADS] for n in through}
        within_parts = {size for shape in states - self._state for size in shape}
        if any(within_parts.intersection(size) for size in sizes):
            # What goes on from turn to turn has one of each example: the turns are no examples.
            self._of_times |= {n for n in through if self._data[n][1:]}
        elif len(sizes) == 1 and () not in sizes and self._state & states:
            self.accumulated |= through


def _rows(equation: Equation) -> int:
    """The examples that are drawn at once; 0 where it is one, or a part of each."""
    shape = equation.outvars[0].aval.shape
    if str(equation.primitive) == "dynamic_slice":
        return int(shape[0]) if shape[1:] == equation.invars[0].aval.shape[1:] else 0
    return 0 if 0 in equation.params["dimension_numbers"].offset_dims else int(shape[0])
