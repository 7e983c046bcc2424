"""Hugging Face models that cannot be fetched are of the right build, untrained; the rest is a hole.

What lies on this machine, in a folder or a package's cache, is read. Nothing is fetched: the job
has the packages' own variables for that (`process/runner.py`).
"""

import importlib
from collections.abc import Callable
from functools import partial
from typing import Any

from tpudiag.sources.job.points import (
    Call,
    Kwargs,
    Library,
    Watches,
    bindings,
    hooks,
    table,
    user_lines,
)
from tpudiag.sources.job.points.point import Point

from . import missing_data_errors
from .holes import Hole
from .ledger import Ledger


def _size(width: int, layers: int, heads: int) -> dict[str, int]:
    names = ("hidden_size", "num_hidden_layers", "num_attention_heads", "intermediate_size")
    return dict(zip(names, (width, layers, heads, 4 * width), strict=True))


_SIZES = {"large": _size(1024, 24, 16), "small": _size(512, 4, 8), "tiny": _size(128, 2, 2)}
"""Part of a name -> what it means for a model of the BERT kind."""
_VOCABULARIES = {
    "xlm-roberta": 250_002, "roberta": 50_265, "multilingual": 119_547, "camembert": 32_005,
}  # fmt: skip
_FETCH_OPTIONS = (
    "cache_dir", "force_download", "resume_download", "proxies", "token", "use_auth_token",
    "local_files_only", "revision", "trust_remote_code", "subfolder",
)  # fmt: skip
_PLACES = (
    table.TOKENIZER_FETCHED, table.AUTO_TOKENIZER_FETCHED, table.PICTURE_PROCESSOR_FETCHED,
    table.AUTO_PICTURE_PROCESSOR_FETCHED, table.DATASETS_LOADED, table.OLD_METRIC_LOADED,
    table.METRIC_LOADED,
)  # fmt: skip
"""Examples, what prepares them for a model, and metrics: the model itself says what it takes."""


class Pretrained:
    """Answers where transformers would fetch what was trained before."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        self._guessed = False
        """Whether a configuration was made by a name: the package may have nothing for its kind."""
        self._heard: dict[Point, Call] = {
            **dict.fromkeys(_PLACES, partial(_where_away, self._fetched, self._has_none)),
            table.CONFIGURATION_READ: partial(_where_away, self._configuration, None),
            table.MODEL_FETCHED: partial(_where_away, self._model, None),
            table.AUTO_MODEL_FETCHED: partial(_where_away, _automatic, None),
        }

    def by_module(self) -> Watches:
        """What is to be told of the import of each module that fetches."""
        return {at.module: partial(self._watch, at.module) for at in self._heard}

    def _watch(self, name: str, module: Library) -> None:
        # A module of the user's own may be called as a package is.
        file = getattr(module, "__file__", None)
        if not (file and user_lines.is_user_file(file)):
            for at, answer in self._heard.items():
                if at.module == name:
                    hooks.around(at, answer)

    def _fetched(self, _: Call, *args: object, **__: object) -> object:
        """What a model has no part in."""
        name = next((each for each in args if isinstance(each, str)), "what is asked for")
        self._ledger.note(f"{name}, of a hub")
        return Hole()

    def _has_none(self, error: Exception) -> bool:
        """Whether the package has nothing that prepares examples for a kind that was guessed."""
        return self._guessed and isinstance(error, (KeyError, ValueError))

    def _configuration(self, _: Call, class_: object, name: object, *__: object, **kw: Any) -> Any:
        """What a model's configuration file says."""
        kind, self._guessed = getattr(class_, "model_type", "") or _kind(str(name)), True
        self._ledger.note(f"the model {name} (untrained, as a {kind} is by default)")
        kept = (each for each in kw if not each.startswith("_") and each not in _FETCH_OPTIONS)
        return configuration(str(name), kind), {each: kw[each] for each in kept}

    def _model(self, _: Call, class_: Any, name: object, *__: object, **kw: Any) -> object:
        """A model with its weights."""
        config: Any = kw.get("config")
        if config is None or isinstance(config, str):
            config = class_.config_class.from_pretrained(config or name)
        for option in ("num_labels", "output_hidden_states", "output_attentions"):
            if option in kw:
                setattr(config, option, kw[option])
        self._ledger.note(f"the weights of {name}")
        model = class_(config)
        # Releases without it make a model's variables at its first call.
        if hasattr(model, "build_in_name_scope"):
            model.build_in_name_scope()
        else:
            model(model.dummy_inputs, training=False)
        return model


def _where_away(
    give: Call, away: Callable[[Exception], bool] | None, original: Call, /,
    *args: object, **kwargs: object,
) -> object:  # fmt: skip
    """What is on this machine is read; `give` answers for what is not, as errors or `away` say."""
    try:
        return original(*args, **kwargs)
    except Exception as error:
        absent = isinstance(error, OSError) or missing_data_errors.is_absent(error)
        if not (absent or (away and away(error))):
            raise
    taken = bindings.bound(original, *args, **kwargs)  # what is named stands in its place
    if taken is None:
        return give(original, *args, **kwargs)
    return give(original, *taken.args, **taken.kwargs)


def _automatic(original: Call, class_: object, name: object, *args: object, **kw: object) -> object:
    """A model whose class its configuration tells, which is looked for by its folder first."""
    auto = importlib.import_module("transformers.models.auto.configuration_auto")
    kw = {"config": auto.AutoConfig.from_pretrained(name), **kw}
    return original(class_, name, *args, **kw)


def _kind(name: str) -> str:
    """The type of model that a name tells."""
    auto = importlib.import_module("transformers.models.auto.configuration_auto")
    kinds = sorted(auto.CONFIG_MAPPING.keys(), key=len, reverse=True)
    plain = name.lower().replace("_", "-")
    return next((kind for kind in kinds if kind in plain), "bert")


def configuration(name: str, kind: str) -> Kwargs:
    """The configuration of a model by its name: what is left out is the type's own default."""
    plain, none = name.lower(), dict[str, int]()
    size = next((values for part, values in _SIZES.items() if part in plain), none)
    made: Kwargs = {"model_type": kind}
    if kind != "distilbert":  # it names its sizes otherwise (dim, n_layers)
        made |= size
    counts = ({"vocab_size": count} for part, count in _VOCABULARIES.items() if part in plain)
    made |= next(counts, none)
    if "roberta" in kind:
        # RoBERTa counts positions from the number behind its padding's, which is 1.
        made |= {"max_position_embeddings": 514, "type_vocab_size": 1}
    return made
