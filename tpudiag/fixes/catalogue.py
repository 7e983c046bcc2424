"""Finds this room's fixes, and makes the change for a finding."""

import warnings
from collections.abc import Iterator
from functools import cache
from importlib import import_module
from pkgutil import iter_modules

from tpudiag import fixes
from tpudiag.fixes import edits as texts
from tpudiag.fixes.edits import Edit, NoChange
from tpudiag.fixes.model import Fix, Place
from tpudiag.fixes.source import NotParsed, Source, module_of
from tpudiag.model import Framework

GENERAL = "what to change is for the author of the script to say"
ADVICE = {
    "TPU001": "a TensorFlow 1 script has to be ported, and is not run",
    "TPU002": "it is the environment that is to be mended, not the script",
    "TPU003": "it is the TPU's name, project or network, not the script",
    "TPU004": "it is the choice of TPU or TensorFlow, not the script",
    "TPU005": "it is the installed Keras, not the script",
    "TPU101": "what differs from call to call is no number: it has to be the same where it is made",
    "TPU103": "no other operation computes the same: it has to move into the input pipeline",
    "TPU110": "whether the array is to be trained, fed or looked up, only the author knows",
    "TPU112": "the loop has to be written with operations of the graph, or as a cell of an RNN",
    "TPU201": "it is a sum of causes: those with findings of their own are mended one by one",
    "TPU207": "what the Python function does has to be written with TensorFlow's operations",
    "TPU208": "the bucket that holds the data is not known",
    "TPU210": "where the cast belongs, only the author of the model knows",
    "TPU213": "how much shuffling is enough, only the author of the job knows",
    "TPU215": "by what the files belong together, only the author knows",
    "TPU216": "how long a sequence may be, only the author knows",
    "TPU111": "how the rate follows the steps, only the author knows",
    "TPU301": "a smaller batch or model changes the training",
    "TPU304": "what the results are kept for, only the author knows",
    "TPU302": "another shape changes the model",
    "TPU303": "a smaller batch changes the training",
    "TPU408": "in what precision the parameters are kept is part of the model",
    "TPU409": "what maps one example has to be written for all of them",
    "TPU405": "it is a sum of causes: those with findings of their own are mended one by one",
    "TPU406": "it is a sum of causes: those with findings of their own are mended one by one",
    "TPU503": "it is a host, not the script",
    "TPU504": "the batch and the topology decide, not a line",
    "TPU506": "whether the limit is meant for a replica or for the sum, only the author knows",
    "TPU509": "the capacity is part of the model",
    "TPU511": "of which numbers a key or seed is to be made, only the author knows",
    "TPU512": "what is to be averaged, and along which axis, only the author knows",
    "TPU513": "how strong the regularisation is to be beside the loss, only the author knows",
    "TPU514": "which of the two shapes is to change, only the author of the model knows",
    "TPU515": "whether the labels count on within a replica, only the author of the model knows",
    "TPU516": "whether the activation or the loss is to change, only the author of the model knows",
    "TPU517": "the number of steps is computed somewhere in the script, in its own words",
    "TPU518": "under which name the caller keeps the state, only the author knows",
    "TPU519": "after which update the sums are to be zero, only the author knows",
    "TPU520": "where an epoch begins, only the author knows",
    "TPU521": "whether dropout in the evaluation is meant, only the author knows",
    "TPU603": "it is seen while the job runs; no line of the script is known to cause it",
    "TPU604": "it is seen while the job runs; no line of the script is known to cause it",
    "TPU605": "each known error has an answer of its own: `tpudiag explain --error` shows it",
    "TPU606": "how often to evaluate, only the author of the job knows",
    "TPU607": "it is seen while the job runs; no line of the script is known to cause it",
    "TPU608": "how often to save and to evaluate, only the author of the job knows",
    "TPU609": "the error that ended it has an answer of its own: TPU605",
    "TPU610": "it is a disk, not the script",
    "TPU611": "what keeps the loss finite is part of the model",
    "TPU612": "under which name the metric is reported and meant, only the author knows",
    "TPU702": "which dimension of which array the devices share, only the author of the mesh knows",
    "TPU703": "whether it is worth its collectives, the HBM that a larger batch needs decides",
    "TPU706": "what the loop returns besides is not known",
    "TPU704": "which folder outlives the job is not known",
}
"""Why findings of some checks have no automatic change."""


@cache
def all_fixes() -> tuple[Fix, ...]:
    """Every fix, in the order of their modules and lines."""
    return tuple(
        value
        for module in sorted(iter_modules(fixes.__path__), key=lambda info: info.name)
        for value in vars(import_module(f"{fixes.__name__}.{module.name}")).values()
        if isinstance(value, Fix)
    )


def of_id(id_: str, framework: Framework = Framework.TENSORFLOW) -> Iterator[Fix]:
    """The fixes for the findings of a check, in scripts of a framework."""
    return (e for e in all_fixes() if id_ in e.ids and framework in e.frameworks)


def reason(id_: str) -> str:
    """Why a check's findings have no change of their own."""
    return ADVICE.get(id_, GENERAL)


def made(place: Place) -> tuple[Fix, tuple[Edit, ...]]:
    """The fix that applies, and its edits; raises NoChange with the first reason."""
    reasons: list[str] = []
    for each in of_id(place.id, place.framework):
        if each.figure and place.figure(each.figure) is None:
            continue
        try:
            return each, _sound(place.source, tuple(each.function(place, place.source)))
        except NoChange as none:
            # An empty reason means that another fix of the same check applies.
            reasons += [str(none)] if str(none) else []
    raise NoChange(reasons[0] if reasons else reason(place.id))


def _sound(source: Source, edits: tuple[Edit, ...]) -> tuple[Edit, ...]:
    """The edits, if they change the text and the result can be parsed."""
    if texts.conflict(edits, edits):
        raise NoChange("its parts are in each other's way")
    after = texts.applied(source.text, edits)
    if after == source.text:
        raise NoChange("the line is as it should be")
    try:
        # Both: LibCST preserves the text, Python knows the rules (such as `return` outside a
        # function).
        module_of(after)
        with warnings.catch_warnings(action="ignore"):
            compile(after, "<changed>", "exec", dont_inherit=True)
    except (NotParsed, SyntaxError, ValueError) as error:
        raise NoChange("the changed line would be no Python") from error
    return edits
