# ruff: noqa: E501  (texts of other programs stay as they are)
"""Tables that turn strings into numbers: their resources, their words."""

from __future__ import annotations

from tpudiag.known_errors.model import KnownError, Phase

ERRORS = (
    KnownError(
        id="E600",
        family="lookup-table",
        phase=Phase.EXECUTING,
        patterns=(
            r"lookup::LookupInterface does not exist",
            r"Table not initialized",
            r"Table (?:was )?(?:already|not) initialized",
            r"Failed to (?:create|look ?up|find|initialize) .{0,40}?lookup table",
            r"LookupTable\w{0,20}.{0,120}?(?:does not exist|not be found|uninitialized|was not found)",
            r"hash_?table\w{0,20}.{0,120}?(?:does not exist|not be found|uninitialized|was not found)",
            r"Table trying to initialize from .{1,120}? is already initialized",
            r"InitializeTableFromTextFile.{0,200}?(?:No such file|not found|not implemented)",
            r"tables? (?:must|should|needs? to) be initialized",
            r"However, the given dataset produces (?:non-|\d)",
        ),
        cause="A lookup table (StringLookup, StaticHashTable, a tokenizer's vocabulary) has no content, or is not, where it is asked: it was made or loaded outside the pipeline's function or in another graph or session, a saved model's table was not restored, or nothing ran the tables' initialiser (TensorFlow 1). A TPU has no tables: the lookup belongs into tf.data, on the host.",
        fix="""\
lookup = keras.layers.StringLookup(vocabulary=words)                     # made once, kept in a variable of the module, outside strategy.run
dataset = dataset.map(lambda x, y: (lookup(x), y), num_parallel_calls=tf.data.AUTOTUNE)      # on the host; the step gets numbers
def dataset_fn(context): lookup = keras.layers.StringLookup(vocabulary="gs://BUCKET/vocab.txt"); ...      # workers elsewhere: made inside dataset_fn
session.run([tf.compat.v1.global_variables_initializer(), tf.compat.v1.tables_initializer()])             # TensorFlow 1
module.table = table                                                      # a table in a SavedModel: an attribute of the saved object, or it is not restored""",
        citations=("tensorflow/tensorflow#57694", "tensorflow/serving#1731"),
        example="FailedPreconditionError: Table not initialized.\n\t [[{{node string_lookup/None_Lookup/LookupTableFindV2}}]]",
    ),
    KnownError(
        id="E601",
        family="vocabulary-file",
        phase=Phase.READING,
        patterns=(
            r"HashTable has different value for same key",
            r"(?:HashTable|vocabulary|table).{0,60}?duplicate (?:key|token|term|entr)",
            r"duplicate (?:key|token|term|entr)\w{0,4} .{0,40}?(?:vocab|table)",
            r"The passed vocabulary has (?:at least one )?(?:repeated|duplicate)",
            r"Invalid vocab_size in",
            r"Invalid number of columns in .{1,120}? line",
            r"table.{0,40}?different value for (?:same|the same) key",
        ),
        cause="The vocabulary of a lookup table is not one word a line, each once: a word stands in it twice (also after lower-casing or stripping), the special words are missing or come again, or it has another number of lines than the model expects.",
        fix="""\
sort vocab.txt | uniq -d | head                                          # words that stand there twice
awk '!seen[$0]++' vocab.txt > vocab.unique.txt; wc -l vocab.unique.txt   # each once, in order; then the model's vocab_size
head -4 vocab.txt                                                        # the special words first, once: <unk>, <s>, </s> or [PAD], [UNK]""",
        citations=("tensorflow/nmt#147", "tensorflow/nmt#121"),
        example="FailedPreconditionError: HashTable has different value for same key. Key <s> has 1 and trying to add value 4",
    ),
)
