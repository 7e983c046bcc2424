# ruff: noqa: E501  (texts of other programs stay as they are)
"""What the helpers of T5, Flax and PyTorch/XLA programs say: gin, seqio, SentencePiece, data sets, moved names."""

from __future__ import annotations

from tpudiag.known_errors.model import KnownError, Phase

ERRORS = (
    KnownError(
        id="E623",
        family="cpu-only-operation",
        phase=Phase.COMPILING,
        patterns=(
            r"only implemented on (?:the )?CPU",
            r"[Ee]igendecomposition .{0,60}?(?:not (?:supported|implemented)|only)",
            r"MLIR translation rule for primitive '(?P<op>[\w-]{2,60})' not found for platform",
            r"Unimplemented primitive .{0,40}?for platform tpu",
            r"Translation rule for '(?P<op>[\w-]{2,60})' (?:on platform TPU )?not found",
        ),
        cause="The operation has no implementation for a TPU: some exist for the CPU alone (general eigenvalues, Schur, some special functions, callbacks of certain kinds), and some come with a later release of the framework.",
        details=("The operation is {op}.",),
        fix="""\
with jax.default_device(jax.devices("cpu")[0]): w, v = jnp.linalg.eig(x)      # outside the step, on the host
y = jax.pure_callback(f, jax.ShapeDtypeStruct(x.shape, x.dtype), x)             # inside it: a call to NumPy, slow
w, v = jnp.linalg.eigh(x)                                                       # symmetric matrices: a TPU has that
pip install -U "jax[tpu]\"""",
        evidence="recalled",
        example="NotImplementedError: Nonsymmetric eigendecomposition is only implemented on the CPU backend",
    ),
    KnownError(
        id="E624",
        family="torch-xla-names",
        phase=Phase.BUILDING,
        patterns=(
            r"module 'torch_xla[\w.]{0,60}' has no attribute '(?P<name>\w{1,60})'",
            r"cannot import name '(?P<name>\w{1,60})' from 'torch_xla[\w.]{0,60}'",
            r"torch_xla\.core\.xla_model\.(?P<name>\w{1,40}) is deprecated",
            r"No module named 'torch_xla\.(?P<name>[\w.]{1,60})'",
        ),
        cause="The name is gone or has moved in this torch_xla: much of xla_model went to torch_xla.runtime, xrt_* ended with 2.1, and accelerate, Lightning and Transformers of one age ask for the names of theirs.",
        details=("The name is {name}.",),
        fix="""\
import torch_xla, torch_xla.runtime as xr
xr.world_size(), xr.global_ordinal()                        # were xm.xrt_world_size(), xm.get_ordinal()
torch_xla.sync(); torch_xla.device(); torch_xla.launch(main)  # were xm.mark_step(), xm.xla_device(), xmp.spawn
pip install -U accelerate transformers lightning            # of the age of torch_xla; or torch and torch_xla of theirs""",
        evidence="recalled",
        example="AttributeError: module 'torch_xla.core.xla_model' has no attribute 'xrt_world_size'",
        yields_to=("E262",),
    ),
    KnownError(
        id="E625",
        family="hf-datasets",
        phase=Phase.READING,
        patterns=(
            r"Loading a dataset cached in a LocalFileSystem is not supported",
            r"DatasetGeneration(?:Cast)?Error",
            r"An error occurred while generating the dataset",
            r"Dataset scripts are no longer supported",
            r"trust_remote_code.{0,60}?(?:datasets?|is not supported)",
            r"Feature type '(?P<name>\w{2,20})' not found",
        ),
        cause="Hugging Face's datasets could not load or make the data: the package and what is on the hub (or fsspec beside it) are of different ages, a file has other columns than the first one, the disk is full, or a source is not reached; the exception above this line says which.",
        fix="""\
pip install -U datasets fsspec huggingface_hub              # together
rm -rf ~/.cache/huggingface/datasets/NAME                    # half made: anew
pip install "datasets<4"                                     # data sets that are still Python scripts, with trust_remote_code=True
df -h ~                                                       # a TPU VM's disk is small: export HF_HOME=/mnt/disks/data""",
        evidence="recalled",
        example="ValueError: Loading a dataset cached in a LocalFileSystem is not supported.",
    ),
    KnownError(
        id="E626",
        family="tokenizer-file",
        phase=Phase.READING,
        patterns=(
            r"sentencepiece_processor\.cc",
            r"Could not load model from buffer",
            r"model_proto->ParseFromArray",
            r"vocab\w{0,12}\.(?:txt|model|json)'? .{0,40}?(?:not found|does not exist|No such file)",
            r"(?:Can't|Unable to) load tokenizer (?:for|from|file)",
        ),
        cause="The tokenizer's model file is not what it should be: it is empty, a pointer of Git LFS or a web page saved under its name, another kind of vocabulary, or a gs:// path that this reader cannot open.",
        fix="""\
ls -l spiece.model; head -c 60 spiece.model                  # some 800 kB of binary, not `version https` or `<html`
gcloud storage cp gs://BUCKET/spiece.model . ; git lfs pull   # whole, and on every host
vocabulary = seqio.SentencePieceVocabulary("spiece.model")    # the class of this kind of file; model.vocab for WordPiece is vocab.txt""",
        evidence="recalled",
        example="RuntimeError: Internal: src/sentencepiece_processor.cc(1101) [model_proto->ParseFromArray(serialized.data(), serialized.size())]",
    ),
    KnownError(
        id="E627",
        family="gin-config",
        phase=Phase.BUILDING,
        patterns=(
            r"No configurable matching '(?P<name>[\w./@]{1,80})'",
            r"Required bindings for `(?P<name>[\w./]{1,80})` not provided in config",
            r"Configurable '(?P<name>[\w.]{1,80})' doesn't have a parameter named",
            r"Unable to open file: .{1,120}?\.gin",
            r"Ambiguous (?:selector|configurable) '(?P<name>[\w.]{1,80})'",
            r"gin\.(?:config|torch)\.\w{2,40}Error",
            r"Couldn't find (?:a )?(?:specialized name|configurable)",
            r"No values supplied by Gin or caller for arguments",
            r"In call to configurable '(?P<name>[\w./]{1,80})'.{0,300}?missing \d{1,2} required positional",
            r"missing \d{1,2} required positional arguments?: .{1,300}?In call to configurable '(?P<name>[\w./]{1,80})'",
        ),
        cause="A gin configuration does not fit the program: a name in it is of another release of the library (T5, t5x, seqio), the module that defines it was not imported (--module_import), a file is not found, or a required value is not given.",
        details=("The name is {name}.",),
        fix="""\
--gin_param="MODEL_DIR='gs://BUCKET/run'"                      # a string inside: quotes within quotes
--module_import=my_tasks                                       # the module whose @gin.configurable it names
--gin_file=operative_config.gin --gin.skip_unknown=True        # a config of another release: what is not known is left out
--gin_param="utils.tpu_mesh_shape.tpu_topology='v3-8'"         # a value that no file gives: by module.function.argument
pip install -U mesh-tensorflow t5 seqio                         # a parameter that this release does not have yet
pip install -U "t5[gcp]"; pip list | grep -iE "t5|seqio|gin"   # the release the config was written by""",
        evidence="recalled",
        example="ValueError: No configurable matching 'utils.run'",
    ),
    KnownError(
        id="E628",
        family="seqio-task",
        phase=Phase.READING,
        patterns=(
            r"Task/Mixture '?(?P<name>[\w.:-]{1,60})'? not found",
            r"No Task or Mixture found with name:? ?(?P<name>[\w.:-]{1,60})",
            r"Provider name not registered: ?(?P<name>[\w.:-]{1,60})",
            r"Attempting to register duplicate provider: ?(?P<name>[\w.:-]{1,60})",
            r"Task dataset (?:is missing|has incorrect)",
        ),
        cause="The task or mixture is not (or twice) in seqio's registry: the module that registers it was not imported on this host, the cell was run again, or its data set does not give the features that it promises.",
        details=("The task is {name}.",),
        fix="""\
import my_tasks                                                # before the model asks for it: --module_import=my_tasks
seqio.TaskRegistry.remove("my_task"); seqio.MixtureRegistry.remove("my_mixture")      # a notebook's cell that is run again
print(seqio.TaskRegistry.names())
dataset = seqio.get_mixture_or_task("my_task").get_dataset({"inputs": 512, "targets": 128}, split="train"); print(dataset.element_spec)""",
        evidence="recalled",
        example="ValueError: No Task or Mixture found with name: my_task",
    ),
    KnownError(
        id="E630",
        family="text-op-elsewhere",
        phase=Phase.EXECUTING,
        patterns=(
            r"Op type not registered '(?P<op>Sentencepiece\w{1,30})'",
            r"Op type not registered '(?P<op>(?:Regex|Wordpiece|Whitespace|CaseFold|NormalizeUTF8|UnicodeScript|Unicode|FastWordpiece|FastBert|SentenceFragments|SplitByChar|NgramsString|Trimmer|RoundRobin)\w{0,40})'",
            r"Op type not registered '(?P<op>(?:Addons|IO|Tfra|TFRA|DecisionForests)>?\w{1,50})'",
            r"'(?P<op>(?:Addons|IO|TFRA|TFText)>\w{1,50}|Sentencepiece\w{1,30})' is neither a type of a primitive operation",
        ),
        cause="The operation belongs to a library of its own (tensorflow_text, SentencePiece, tensorflow_addons, tensorflow_io), and the process that runs the graph has not loaded it: it was not imported before the model was loaded, or the graph runs on another machine, a TPU Node's worker or a server, into which no such library can be loaded.",
        details=("The operation is {op}.",),
        fix="""\
import tensorflow_text                                          # before load_model, hub.load, saved_model.load; of TensorFlow's own version
# on a TPU Node nothing can be imported: tokenise beforehand, write numbers to TFRecord files, read those
# on a TPU VM the host is your own process: dataset.map(tokenizer) works there, not inside the step
# a server: build it with these operations, or export the model without its preprocessing""",
        citations=("google/sentencepiece#390", "tensorflow/tensorflow#32163"),
        example="NotFoundError: Op type not registered 'SentencepieceEncodeDense' in binary running on n-4f2a6a3d-w-0. Make sure the Op and Kernel are registered in the binary running in this process.",
    ),
    KnownError(
        id="E631",
        family="accelerate-batches",
        phase=Phase.READING,
        patterns=(
            r"need to use 'even_batches=False'",
            r"unexpected keyword argument '(?P<name>even_batches|split_batches|dispatch_batches)'",
        ),
        cause="Accelerate spreads the batches over the TPU's processes, and cannot do so with this loader: it has no batch size of its own (batch_size=None, a data set that gives whole batches), or the option stands where this release does not take it.",
        details=("The option is {name}.",),
        fix="""\
from accelerate.utils import DataLoaderConfiguration
accelerator = Accelerator(dataloader_config=DataLoaderConfiguration(even_batches=False, split_batches=True))
loader = DataLoader(dataset, batch_size=64, drop_last=True)       # examples from the data set, batches from the loader: all of one size, as a TPU wants""",
        evidence="recalled",
        example="ValueError: You need to use 'even_batches=False' when the batch sampler has no batch size",
    ),
)
