"""Hugging Face models and tokenizers that cannot be fetched: of the right build, untrained.

What lies on this machine, in a folder or the package's cache, is read.
"""

from __future__ import annotations

import importlib
import os
import re
from collections.abc import Callable
from typing import Any

from tpudiag.sources.job.points import hooks, table

from .ledger import Ledger
from .text_files import WORDS

_SIZES: dict[str, dict[str, int]] = {
    "large": {
        "hidden_size": 1024,
        "num_hidden_layers": 24,
        "num_attention_heads": 16,
        "intermediate_size": 4096,
    },
    "small": {
        "hidden_size": 512,
        "num_hidden_layers": 4,
        "num_attention_heads": 8,
        "intermediate_size": 2048,
    },
    "tiny": {
        "hidden_size": 128,
        "num_hidden_layers": 2,
        "num_attention_heads": 2,
        "intermediate_size": 512,
    },
}
"""Part of a name -> what it means for a model of the BERT kind."""
_VOCABULARIES = {
    "xlm-roberta": 250_002,
    "roberta": 50_265,
    "multilingual": 119_547,
    "camembert": 32_005,
}
_LOCAL = {"local_files_only": True}
"""Nothing is fetched: each try without a network takes the package half a minute."""
_SPECIAL = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")
_TOKENS = 28_000


class Pretrained:
    """Answers where transformers would fetch what was trained before."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger

    def watch_configurations(self, _: Any) -> None:
        """transformers.configuration_utils."""
        hooks.around(table.CONFIGURATION_READ, self._configuration)

    def watch_models(self, _: Any) -> None:
        """transformers.modeling_tf_utils."""
        hooks.around(table.MODEL_FETCHED, self._model)

    def watch_auto_models(self, _: Any) -> None:
        """transformers.models.auto.auto_factory, which asks for files of its own."""

        def local(original: Any, class_: Any, name: Any, *args: Any, **kw: Any) -> Any:
            return original(class_, name, *args, **{**kw, **_LOCAL})

        hooks.around(table.AUTO_MODEL_FETCHED, local)

    def watch_tokenizers(self, _: Any) -> None:
        """transformers.tokenization_utils_base."""
        hooks.around(table.TOKENIZER_FETCHED, self._tokenizer)

    def watch_auto_tokenizer(self, _: Any) -> None:
        """transformers.models.auto.tokenization_auto."""
        hooks.around(table.AUTO_TOKENIZER_FETCHED, self._tokenizer)

    def watch_picture_processors(self, module: Any) -> None:
        """transformers.image_processing_utils, or its module for the automatic class."""
        automatic = hasattr(module, "AutoImageProcessor")
        at = table.AUTO_PICTURE_PROCESSOR_FETCHED if automatic else table.PICTURE_PROCESSOR_FETCHED
        hooks.around(at, self._picture_processor)

    def _configuration(self, original: Any, class_: Any, name: Any, *args: Any, **kw: Any) -> Any:
        """What a model's configuration file says."""
        try:
            return original(class_, name, *args, **{**kw, **_LOCAL})
        except Exception as error:
            if not _is_away(error):
                raise
        kind = getattr(class_, "model_type", "") or self._kind(str(name))
        self._ledger.note(f"the model {name} (untrained, as a {kind} is by default)")
        left = {key: value for key, value in kw.items() if not key.startswith("_")}
        for option in _FETCH_OPTIONS:
            left.pop(option, None)
        return configuration(str(name), kind), left

    def _kind(self, name: str) -> str:
        """The type of model that a name tells."""
        auto: Any = importlib.import_module("transformers.models.auto.configuration_auto")
        kinds = sorted(auto.CONFIG_MAPPING.keys(), key=len, reverse=True)
        plain = name.lower().replace("_", "-")
        return next((kind for kind in kinds if kind in plain), "bert")

    def _model(self, original: Any, class_: Any, name: Any, *args: Any, **kw: Any) -> Any:
        """A model with its weights."""
        try:
            return original(class_, name, *args, **{**kw, **_LOCAL})
        except Exception as error:
            if not _is_away(error):
                raise
        config = kw.get("config")
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

    def _picture_processor(
        self, original: Any, class_: Any, name: Any, *args: Any, **kw: Any
    ) -> Any:
        """What resizes and normalises pictures for a model: as its class does by default."""
        try:
            return original(class_, name, *args, **{**kw, **_LOCAL})
        except Exception as error:
            if not _is_away(error):
                raise
        self._ledger.note(f"the image processor {name}")
        if class_.__name__ != "AutoImageProcessor":
            return class_()
        package: Any = importlib.import_module("transformers")
        auto: Any = importlib.import_module("transformers.models.auto.image_processing_auto")
        named = getattr(auto, "IMAGE_PROCESSOR_MAPPING_NAMES", {}).get(self._kind(str(name)))
        # Later releases name a slow and a fast one.
        listed = [named] if isinstance(named, str) else [each for each in named or () if each]
        return getattr(package, listed[0] if listed else "ViTImageProcessor")()

    def _tokenizer(self, original: Any, class_: Any, name: Any, *args: Any, **kw: Any) -> Any:
        """A tokenizer with its vocabulary: words, as BERT's."""
        try:
            return original(class_, name, *args, **{**kw, **_LOCAL})
        except Exception as error:
            if not _is_away(error):
                raise
        self._ledger.note(f"the tokenizer {name}")
        package: Any = importlib.import_module("transformers")
        file = self._ledger.file("vocabulary/vocab.txt", _write_vocabulary)
        auto = class_.__name__ == "AutoTokenizer"
        fast = kw.get("use_fast", True) if auto else class_.__name__.endswith("Fast")
        made = package.BertTokenizerFast if fast else package.BertTokenizer
        named = None if auto else class_
        inputs = inputs_of(package, named, self._kind(str(name)))
        tokenizer = made(vocab_file=file, model_max_length=512, **inputs)
        if not fast:
            tokenizer.tokenize = remembering(tokenizer.tokenize)
        return tokenizer


def inputs_of(package: Any, class_: Any, kind: str) -> dict[str, Any]:
    """What the tokenizer of a type of model answers: DistilBERT's gives no types of tokens."""
    if class_ is None:
        auto: Any = importlib.import_module("transformers.models.auto.tokenization_auto")
        names = getattr(auto, "TOKENIZER_MAPPING_NAMES", {}).get(kind, ())
        known = (getattr(package, each, None) for each in names if isinstance(each, str))
        class_ = next((each for each in known if each is not None), None)
    listed: Any = getattr(class_, "model_input_names", None)
    return {"model_input_names": list(listed)} if listed else {}


def remembering(tokenize: Callable[..., list[str]]) -> Callable[..., list[str]]:
    """A tokenizer in Python that takes each text apart once: texts stood in for are few."""
    known: dict[object, list[str]] = {}

    def tokens(text: str, *args: Any, **kwargs: Any) -> list[str]:
        key = text, repr(args), repr(sorted(kwargs.items()))
        if key not in known and len(known) < _REMEMBERED:
            known[key] = tokenize(text, *args, **kwargs)
        return list(known[key]) if key in known else tokenize(text, *args, **kwargs)

    return tokens


_REMEMBERED = 4096
_FETCH_OPTIONS = (
    "cache_dir",
    "force_download",
    "resume_download",
    "proxies",
    "token",
    "use_auth_token",
    "local_files_only",
    "revision",
    "trust_remote_code",
    "subfolder",
)


def configuration(name: str, kind: str) -> dict[str, Any]:
    """The configuration of a model by its name: what is left out is the type's own default."""
    plain = name.lower()
    none: dict[str, int] = {}
    size = next((values for part, values in _SIZES.items() if part in plain), none)
    vocabulary = next((count for part, count in _VOCABULARIES.items() if part in plain), None)
    made: dict[str, Any] = {"model_type": kind, **size}
    # It names its sizes otherwise (dim, n_layers).
    if kind == "distilbert":
        made = {"model_type": kind}
    if vocabulary is not None:
        made["vocab_size"] = vocabulary
    if "roberta" in kind:
        # RoBERTa counts positions from the number behind its padding's, which is 1.
        made |= {"max_position_embeddings": 514, "type_vocab_size": 1}
    return made


def _is_away(error: Exception) -> bool:
    """Whether something could not be fetched or is not there."""
    return isinstance(error, OSError) or bool(
        re.search(r"Connection|resolve|Offline|LocalEntryNotFound|HTTP", type(error).__name__)
    )


def _write_vocabulary(path: str) -> None:
    """Special tokens, the words of the texts that are stood in for, letters, and others."""
    words = dict.fromkeys([*_SPECIAL, *WORDS.split(), *map(chr, range(33, 127))])
    words.update(dict.fromkeys(f"##{letter}" for letter in map(chr, range(97, 123))))
    words.update(dict.fromkeys(f"word{number}" for number in range(_TOKENS)))
    os.makedirs(os.path.dirname(path), exist_ok=True)  # noqa: PTH103, PTH120
    with open(path, "w", encoding="utf-8") as file:  # noqa: PTH123
        file.write("\n".join(words) + "\n")
