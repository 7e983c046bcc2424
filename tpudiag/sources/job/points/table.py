"""The table of points: every hooked call of a library, one row each.

A row lists what is called, what is learnt from it, which releases have it (all by default), how the
hook is installed and when it is removed. `python -m tests.points` prints which of them a given
Python's libraries lack. Calls that name files are in `files.py`, with their effects.
"""

from functools import partial

from tpudiag.sources.job.points.point import Holder, Undone, Way, point

_KERAS_2 = "Keras 2"
_KERAS_3 = "Keras 3"
_OLDEST_TO_NEWEST = "2.13 to 2.21"
"""The releases examined: a private name is guaranteed for no other."""
_private = partial(point, releases=_OLDEST_TO_NEWEST)
_by_definer = partial(point, holder=Holder.DEFINER)
_by_definers = partial(point, holder=Holder.DEFINERS)
_everywhere = partial(point, way=Way.EVERYWHERE)
_by_code = partial(point, way=Way.CODE)
_tracker = partial(point, why="a run of a tracker begins", holder=Holder.CALLED)
_observed = partial(point, undone=Undone.WITH_LISTENERS)
_until_exit = partial(point, undone=Undone.AT_EXIT)
_STRATEGIES = "tf.distribute.TPUStrategy tf.distribute.Strategy"

# How a pipeline is built and read.
DATASET_MADE = point("tf.data.Dataset", "__init__", "which dataset is made of which, on which line")
DATASET_READ = point("tf.data.Dataset", "__iter__", "a pass over the data begins")
DATASETS_DEBUGGED = point(
    "tf.data.experimental", "enable_debug_mode", "settings of pipelines are left out from then on"
)
DATASET_SHUFFLED = point("tf.data.Dataset", "shuffle", "how large a buffer is asked for")
DATASET_PREFETCHED = point("tf.data.Dataset", "prefetch", "how many are read ahead")
DATASET_SKIPPED = point("tf.data.Dataset", "skip", "how many are put aside")
FILES_LISTED = point("tf.data.Dataset", "list_files", "files that are not there are stood in for")
ARRAYS_SLICED = point("tf.data.Dataset", "from_tensor_slices", "of holes it is one")
GENERATOR_GIVEN = point(
    "tf.data.Dataset", "from_generator", "examples of a generator that lacks its files"
)
DATASETS_JOINED = point(
    "tf.data.Dataset", "zip sample_from_datasets choose_from_datasets", "of holes it is one"
)
ITERATOR_NEXT = point("", "__next__ get_next", "a batch is taken")
ITERATOR_OPTIONAL = _private("", "get_next_as_optional", "a batch is taken, by Keras")
DISTRIBUTED_READ = point("", "__iter__", "a pass over a distributed dataset begins")
DISTRIBUTED_REDUCED = _private("", "reduce", "a distributed dataset is read by a loop in a graph")
DISTRIBUTED_DATASETS = point(
    "tensorflow.python.distribute.input_lib.DistributedDataset"
    " tensorflow.python.distribute.input_lib.DistributedDatasetsFromFunction",
    "__iter__",
    "on which line a distributed dataset is read, and how often",
)
REBATCHED = _private(
    "tensorflow.python.distribute.input_lib.DistributedDataset",
    "_make_rebatch_fn",
    "each replica gets a whole batch where the last one of the data is cut",
)
DUMMY_VALUES = _private(
    "tensorflow.python.distribute.input_lib",
    "_get_value_or_dummy",
    "a replica without data gets a copy of another's, which is taken off again",
)

# Strategies and replicas.
STRATEGY_MADE = _by_definers("tf.distribute.Strategy", "__init__", "a strategy is there")
TPU_STRATEGY_MADE = point("tf.distribute.TPUStrategy", "__init__", "a TPUStrategy is made")
MIRRORED_STRATEGY_MADE = point("tf.distribute.MirroredStrategy", "__init__", "a strategy of GPUs")
MIRRORED_STRATEGY_V1_MADE = point(
    "tf.compat.v1.distribute.MirroredStrategy", "__init__", "a strategy of GPUs, as in TensorFlow 1"
)
STRATEGY_RUN = _by_definers(_STRATEGIES, "run", "a step is run on the replicas")
STRATEGY_DISTRIBUTES = _by_definers(
    _STRATEGIES, "experimental_distribute_dataset", "data are shared out"
)
STRATEGY_DISTRIBUTES_BY_FUNCTION = _by_definers(
    _STRATEGIES, "distribute_datasets_from_function", "each host makes its own data"
)
LOCAL_RESULTS = _by_definers(
    "tf.distribute.Strategy", "experimental_local_results", "the results of all replicas are read"
)
STRATEGY_REDUCED = _by_definers("tf.distribute.Strategy", "reduce", "results are averaged")
CALL_FOR_EACH_REPLICA = point(
    "tf.compat.v1.distribute.StrategyExtended",
    "call_for_each_replica",
    "the step as each replica runs it, to be lowered",
)
REPLICAS_MERGED = _by_definers(
    "tf.distribute.ReplicaContext", "merge_call", "replicas meet, where a gradient is to come from"
)
REPLICA_NUMBER = _by_definers(
    "tf.distribute.ReplicaContext",
    "replica_id_in_sync_group",
    "a replica takes a part of its own of what all get",
)
ALL_REDUCED = point("tf.distribute.ReplicaContext", "all_reduce", "how gradients are put together")

# Steps: functions, gradients, and reads of them.
FUNCTION_CALLED = point("", "__call__", "a tf.function is called")
TRACE_RUN = _private(
    "tensorflow.python.eager.polymorphic_function.concrete_function.ConcreteFunction"
    " tensorflow.python.eager.polymorphic_function.monomorphic_function.ConcreteFunction",
    "_call_flat",
    "a traced function is about to be run; what is too heavy for this machine is not",
)
MADE_EAGER = _private(
    "tf.config",
    "run_functions_eagerly experimental_run_functions_eagerly",
    "functions are no longer traced",
)
GRADIENT_TAKEN = point("tf.GradientTape", "gradient", "what is trained, by which loss")
CLIPPED = point("tf", "clip_by_global_norm clip_by_norm clip_by_value", "gradients are clipped")
TENSOR_FETCHED = _by_definer(
    "tensorflow.python.framework.ops.EagerTensor",
    "_numpy",
    "a result is copied from the device",
    _OLDEST_TO_NEWEST,
)
VARIABLE_ASSIGNED = _private(
    "tensorflow.python.distribute.values.DistributedVariable",
    "assign assign_add assign_sub",
    "a line updates weights from Python",
)
VARIABLE_READ = _by_definers("", "_read_variable_op", "a counter of steps is read that stood still")
_VARIABLES = "tensorflow.python.ops.gen_resource_variable_ops"
VARIABLE_SET = _private(
    _VARIABLES, "assign_variable_op assign_sub_variable_op", "a sum of gradients is set back"
)
VARIABLE_ADDED = _private(_VARIABLES, "assign_add_variable_op", "a gradient is added to a sum")
VARIABLE_TAKEN = _private(_VARIABLES, "read_variable_op", "a sum of gradients is applied")
SUMMARY_WRITTEN = point("tf.summary", "scalar", "a result is written to a log")
LOOP_IN_GRAPH = _private(
    "tensorflow.python.autograph.operators",
    "for_stmt",
    "a loop within a traced function, which may be shortened",
)
CODE_GENERATED = _private(
    "tensorflow.python.autograph.pyct.origin_info",
    "create_source_map",
    "which of the user's lines a generated line is made of; TensorFlow maps its own tracebacks so,"
    " but not on the threads on which replicas are traced",
)
RANDOM_DRAWN = point(
    "random",
    "betavariate choice choices expovariate gauss getrandbits normalvariate randint random"
    " randrange sample shuffle triangular uniform",
    "a random number that a trace freezes",
)
NUMPY_DRAWN = point(
    "numpy.random",
    "beta binomial choice exponential gamma normal permutation poisson rand randint randn random"
    " random_integers random_sample ranf sample shuffle standard_normal uniform",
    "a random number that a trace freezes",
    "NumPy 1 and 2",
)
NUMPY_GENERATOR = point("numpy.random", "default_rng", "it is seeded, where two runs are compared")

# Devices, and the TPU's APIs.
CPUS_SPLIT = _everywhere(
    "tf.config",
    "set_logical_device_configuration",
    "a script that splits the CPU has our replicas of it",
)
TPU_STRATEGY = _everywhere(
    "tf.distribute tf.distribute.experimental", "TPUStrategy", "replicas on CPUs do the work"
)
TPU_STRATEGY_V1 = _everywhere("tf.compat.v1.distribute.experimental", "TPUStrategy", "the same")
TPU_CLIENT = point("cloud_tpu_client", "Client", "the service that sets a TPU up")
TPU_RESOLVER = _everywhere(
    "tf.distribute.cluster_resolver", "TPUClusterResolver", "there is no TPU to be found"
)
TPU_RESOLVER_MADE = point(
    "tf.distribute.cluster_resolver.TPUClusterResolver", "__init__", "a TPU is looked for"
)
TPU_CONNECTED = _everywhere(
    "tf.config",
    "experimental_connect_to_cluster experimental_connect_to_host",
    "the TPU's host is spoken to",
)
TPU_SESSION = point(
    "tf.compat.v1.Session tf.compat.v1.InteractiveSession", "__init__", "graphs run on a TPU node"
)
TPU_INITIALISED = _everywhere("tf.tpu.experimental", "initialize_tpu_system", "the TPU is started")
TPU_SHUT_DOWN = _everywhere("tf.tpu.experimental", "shutdown_tpu_system", "the TPU is stopped")
LOGICAL_DEVICES_LISTED = _everywhere(
    "tf.config", "list_logical_devices", "TPUs are among the devices"
)
PHYSICAL_DEVICES_LISTED = _everywhere(
    "tf.config", "list_physical_devices", "TPUs are among the devices"
)
DEVICE_NAMED = _everywhere("tf", "device", "a step is put on a device")
LOGICAL_DEVICE = point(
    "tf.distribute.ReplicaContext",
    "experimental_logical_device",
    "only that of a TPU has it",
    "none: it is added",
)
REPLICA_VALUES = point(
    "tf.Tensor", "values", "the only replica's value has them, as each of many has", "none: added"
)
MEMORY_GROWTH = point("tf.config.experimental", "set_memory_growth", "GPUs are looked after")
EMBEDDINGS_MADE = _by_definer(
    "tf.tpu.experimental.embedding.TPUEmbedding tf.tpu.experimental.embedding.TPUEmbeddingV0"
    " tf.tpu.experimental.embedding.TPUEmbeddingV2",
    "__init__",
    "what runs on the TPU's SparseCore: nothing on a CPU stands in for it",
    _OLDEST_TO_NEWEST,
)

GRAPH_RESET = _by_code(
    "tf.compat.v1",
    "reset_default_graph",
    "Keras' clear_session throws away what is noted in the default graph",
)

# Checkpoints.
MANAGER_MADE = point("tf.train.CheckpointManager", "__init__", "where checkpoints are kept")
MANAGER_SAVED = point("tf.train.CheckpointManager", "save", "a checkpoint is saved")
CHECKPOINT_SAVED = point("tf.train.Checkpoint", "save write", "a checkpoint is saved")
CHECKPOINT_RESTORED = point("tf.train.Checkpoint", "restore read", "a checkpoint is read")
MODEL_SAVED_WHOLE = point("tf.saved_model", "save", "a model is saved for serving")

ORBAX_MANAGER_MADE = point("orbax.checkpoint.CheckpointManager", "__init__", "where it keeps them")
ORBAX_MANAGER_SAVED = point("orbax.checkpoint.CheckpointManager", "save", "a checkpoint is saved")
ORBAX_SAVED = point(
    "orbax.checkpoint.Checkpointer orbax.checkpoint.AsyncCheckpointer", "save", "the same"
)
FLAX_SAVED = point(
    "flax.training.checkpoints", "save_checkpoint save_checkpoint_multiprocess", "the same"
)

# TensorFlow 1.
TF1_SWITCHES = point(
    "tf.compat.v1",
    "disable_v2_behavior disable_eager_execution disable_v2_tensorshape disable_control_flow_v2"
    " disable_resource_variables placeholder",
    "an interface of TensorFlow 1 is used",
)
TF1_SESSIONS = point("tf.compat.v1.Session tf.compat.v1.InteractiveSession", "__init__", "the same")
TF1_COLLECTION = point(
    "tf.compat.v1",
    "get_collection",
    "losses are asked for where TensorFlow 2 keeps none",
)

# Keras: the job's own, of whichever package.
MODEL_MADE = point("keras.Model", "__init__", "which model there is to be trained")
FIT = point("keras.Model", "fit", "a training begins")
EVALUATE = point("keras.Model", "evaluate", "an evaluation runs")
PREDICT = point("keras.Model", "predict", "predictions are made")
BATCH_TRAINED = point("keras.Model", "train_on_batch", "a step returns numbers to Python")
COMPILED = _by_definer("keras.Model", "compile", "how a model is trained")
MODEL_CALLED = point("keras.Model", "__call__", "a model is called outside of a function")
LOSS_COMPUTED = _by_definer("keras.Model", "compute_loss", "operations of the loss")
MODEL_SAVED = point("keras.Model", "save save_weights", "a model or its weights are saved")
MODEL_EXPORTED = point("keras.Model", "export", "a model is saved for serving")
WEIGHTS_LOADED = point("keras.Model", "load_weights", "weights are asked for")
LAYER_MADE = point("keras.layers.Layer", "__init__", "which layers there are, and of which line")
LAYER_GIVEN = point("", "__init__", "sizes that a layer is given and that are not there")
LAYER_ADAPTED = point("", "adapt", "a vocabulary of texts that are not there")
LAYER_CALLED = _by_definer("keras.layers.Layer", "__call__", "operations of a layer")
WEIGHT_ADDED = point("keras.layers.Layer", "add_weight", "which variable has a regulariser")
LAYER_MODES = point(
    "keras.layers.BatchNormalization keras.layers.Dropout", "call", "whether it is called to train"
)
METRIC_MADE = point("keras.metrics.Metric", "__init__", "of which class a metric is")
METRIC_BEGUN = _by_definer(
    "keras.metrics.Metric", "__new__", "the same, before it binds its methods", _KERAS_2
)
METRIC_READ = _by_definers("", "result", "a metric is read")
METRIC_RESET = _by_definers("", "reset_state", "a metric starts anew")
METRIC_UPDATED = _by_definers("", "update_state", "which function updates a metric")
OPTIMIZER_MADE = point("keras.optimizers.Optimizer", "__init__", "with what a model is trained")
OTHER_OPTIMIZER_MADE = _by_definer(
    "keras.optimizers.legacy.Optimizer keras.mixed_precision.LossScaleOptimizer",
    "__init__",
    "with what a model is trained",
    _KERAS_2,
)
SCALING_MADE = point(
    "keras.mixed_precision.LossScaleOptimizer.__class__",
    "__call__",
    "the call of its metaclass gives one of two other classes",
    _KERAS_2,
)
OPTIMIZER_APPLIES = point(
    "keras.optimizers.Optimizer", "apply", "its variables are made outside of replicas", _KERAS_3
)
GRADIENTS_APPLIED = _by_definer(
    "keras.optimizers.Optimizer keras.optimizers.legacy.Optimizer",
    "apply_gradients",
    "operations of an optimizer",
)
POLICY_SET = _by_code(
    "keras.mixed_precision keras.config",
    "set_global_policy set_dtype_policy",
    "the type that layers compute in",
    "set_dtype_policy: Keras 3",
)
POLICY_MADE = point("keras.mixed_precision.Policy", "__init__", "a type that may never be set")
CHECKPOINT_CALLBACK_MADE = point(
    "keras.callbacks.ModelCheckpoint", "__init__", "where Keras saves checkpoints"
)
BACKUP_CALLBACK_MADE = point(
    "keras.callbacks.BackupAndRestore", "__init__", "where Keras saves what it goes on from"
)
_MONITORS = (
    "keras.callbacks.ModelCheckpoint keras.callbacks.EarlyStopping"
    " keras.callbacks.ReduceLROnPlateau"
)
MONITOR_MADE = point(_MONITORS, "__init__", "on which line a metric is monitored")
MONITOR_ASKED = point(_MONITORS, "on_epoch_end", "whether the metric is reported")
LAYOUT_GIVEN = point(
    "keras.distribution.LayoutMap", "__setitem__", "a layout for variables", _KERAS_3
)
LAYOUT_ASKED = point(
    "keras.distribution.LayoutMap", "__getitem__", "the layout of a variable", _KERAS_3
)
CALLBACK_GIVEN = point("keras.callbacks.Callback", "set_model", "a loop that calls a callback")

# Missing data: replaced where it is requested.
GFILE_MATCHED = point("tf.io.gfile", "glob", "names of files")
FILES_NAMED = point("tf.io", "matching_files", "names of files")
GFILE_EXISTS = point("tf.io.gfile", "exists", "whether a file is there")
GFILE_IS_FOLDER = point("tf.io.gfile", "isdir", "whether a folder is there")
GFILE_LISTED = point("tf.io.gfile", "listdir", "what a folder holds")
GFILE_COPIED = point("tf.io.gfile", "copy", "a file is fetched")
GFILE_OPENED = point("tf.io.gfile.GFile", "__init__", "a file is read")
FILE_READ = point("tf.io", "read_file", "a file is read, in a graph")
LATEST_CHECKPOINT = point("tf.train", "latest_checkpoint", "whether there is a checkpoint")
MODEL_LOADED = point("tf.saved_model", "load", "a model of a bucket")
KERAS_DATA_LOADED = _by_code(
    "keras.datasets.mnist keras.datasets.fashion_mnist keras.datasets.cifar10"
    " keras.datasets.cifar100 keras.datasets.imdb keras.datasets.reuters"
    " keras.datasets.boston_housing keras.datasets.california_housing",
    "load_data",
    "the data that Keras downloads",
    "california_housing: Keras 3",
)
KERAS_FILE = _by_code("keras.utils", "get_file", "a file that Keras downloads")
KERAS_PICTURES = _by_code("keras.utils", "image_dataset_from_directory", "a folder of pictures")
PICTURE_LOADED = _by_code("keras.utils", "load_img", "a picture")
PICTURE_OPENED = point("PIL.Image", "open", "a picture")
PICTURE_READ = point("cv2", "imread", "a picture")
EXAMPLES_LOADED = point("grain.python.DataLoader", "__init__", "who reads what is stood in for")
KERAS_TEXTS = _by_code("keras.utils", "text_dataset_from_directory", "a folder of texts")
MODEL_DRAWN = _by_code(
    "keras.utils", "plot_model", "a drawing, for which Graphviz may not be there"
)
_GENERATORS = (
    "keras.preprocessing.image.ImageDataGenerator"
    " keras.src.legacy.preprocessing.image.ImageDataGenerator"
)
FOLDER_GENERATED = point(
    _GENERATORS, "flow_from_directory", "a folder of pictures", "Keras 2, and 3 beside it"
)
TABLE_GENERATED = point(
    _GENERATORS, "flow_from_dataframe", "a table of pictures", "Keras 2, and 3 beside it"
)
TABLE_READ = point(
    "pandas",
    "read_csv read_table read_json read_parquet read_pickle read_feather read_excel",
    "a table",
    "pandas 2 and 3",
)
TORCH_PICTURES = point(
    "torchvision.datasets.MNIST torchvision.datasets.CIFAR10", "__init__", "a set of pictures"
)
TORCH_LOADER = point("torch.utils.data.DataLoader", "__init__", "what goes over a set of examples")
TORCH_FETCHED = point(
    "torch.utils.data._utils.fetch._MapDatasetFetcher", "fetch", "examples of one batch"
)
ARRAY_MADE = point(
    "numpy", "array asarray", "an array is made of a result, or of what is not there"
)
ARRAY_MAPPED = point("numpy.memmap", "__new__", "an array of a file")
MODULE_COMPILED = _by_definer(
    "importlib.machinery.SourceFileLoader", "get_code", "modules of the job's run with other code"
)
JSON_WRITTEN = point("json.JSONEncoder", "default", "a hole is written as a number")
FILE_OPENED = point("builtins io", "open", "a hole is a path, and no number of an open file")
FOLDER_LISTED = point("os", "listdir", "what a folder holds")
FOLDER_ASKED = point("os.path pathlib.Path", "isdir is_dir", "whether a path is a folder")
FILE_ASKED = point("os.path pathlib.Path", "isfile is_file exists", "whether a path is a file")
FOLDER_WALKED = point("os", "walk", "what a folder holds, all the way down")
FILES_MATCHED = point("glob", "glob", "names of files")
PATHS_MATCHED = _by_definer("pathlib.Path", "glob rglob", "names of files")
PATHS_LISTED = _by_definer("pathlib.Path", "iterdir", "what a folder holds")
TFDS_ASKED = point(
    "tensorflow_datasets tensorflow_datasets.core.load", "builder load", "the data set of a name"
)
_BUILDER = "tensorflow_datasets.core.dataset_builder.DatasetBuilder"
TFDS_MADE = point(_BUILDER, "__init__", "a builder, also one of the script's own")
TFDS_SPLIT = point(
    "tensorflow_datasets.core.splits.SplitDict", "__getitem__", "a split is looked for by its name"
)
TFDS_READ_BY_PLACE = point(_BUILDER, "as_data_source", "its data are read without TensorFlow")
DATASETS_LOADED = point("datasets", "load_dataset", "a data set of Hugging Face")
METRIC_LOADED = point("evaluate", "load", "a metric of Hugging Face")
OLD_METRIC_LOADED = point("datasets", "load_metric", "the same", "up to datasets 2")
HUB_LAYER = point("tensorflow_hub", "KerasLayer", "a layer of TF Hub")
HUB_LOADED = point("tensorflow_hub", "load", "a module of TF Hub")
CONFIGURATION_READ = point(
    "transformers.configuration_utils.PretrainedConfig", "get_config_dict", "a configuration"
)
MODEL_FETCHED = point(
    "transformers.modeling_tf_utils.TFPreTrainedModel", "from_pretrained", "weights"
)
AUTO_MODEL_FETCHED = point(
    "transformers.models.auto.auto_factory._BaseAutoModelClass", "from_pretrained", "weights"
)
TOKENIZER_FETCHED = point(
    "transformers.tokenization_utils_base.PreTrainedTokenizerBase",
    "from_pretrained",
    "a tokenizer",
)
AUTO_TOKENIZER_FETCHED = point(
    "transformers.models.auto.tokenization_auto.AutoTokenizer", "from_pretrained", "a tokenizer"
)
PICTURE_PROCESSOR_FETCHED = point(
    "transformers.image_processing_utils.BaseImageProcessor",
    "from_pretrained",
    "what prepares pictures",
    "transformers 4.39 to 4.49",
)
AUTO_PICTURE_PROCESSOR_FETCHED = point(
    "transformers.models.auto.image_processing_auto.AutoImageProcessor",
    "from_pretrained",
    "what prepares pictures",
)

# What a rehearsal holds back. Calls of packages that use files and hubs, trackers and mail are
# listed beside their answers, in `held_back/`.
CONNECTED = point("socket.socket", "connect connect_ex", "another machine is reached")
SENT_UNCONNECTED = point("socket.socket", "sendto", "another machine is sent to")
ADDRESS_ASKED = point("socket", "getaddrinfo", "where another machine is to be found")
PROGRAM_STARTED = point("subprocess.Popen", "__init__", "another program may send")
SHELL_STARTED = point("os", "system", "another program may send")
PROGRAM_EXECUTED = point(
    "os",
    "execv execve posix_spawn posix_spawnp",
    "another program may send: to these come all others of os, and what is built on it",
    "not on Windows",
)
RENAMED = point("os", "rename replace", "a folder below a layer cannot be given another name")
GFILE_RENAMED = point("tf.io.gfile", "rename", "the same")
REQUEST_BEGUN = point("http.client.HTTPConnection", "putrequest", "a request that may send")
REQUEST_ANSWERED = point("http.client.HTTPConnection", "getresponse", "it is answered")
REQUEST_POOLED = point("httpcore.ConnectionPool", "handle_request", "a request that may send")
REQUEST_POOLED_ASYNC = point(
    "httpcore.AsyncConnectionPool",
    "handle_async_request",
    "the same, of one that is not waited for",
)
REQUEST_OF_AIOHTTP = point("aiohttp.ClientSession", "_request", "the same", "aiohttp 3")
PUSHED_TO_HUGGING_FACE = point(
    "huggingface_hub.hf_api.HfApi", "", "pushes: all whose names say so, as `create_repo`"
)
FUNCTION_OF_HUB = point("", "", "methods of the one object of a hub's package, as its functions")
PUSHED_TO_KAGGLEHUB = point(
    "kagglehub", "model_upload dataset_upload notebook_upload", "pushes", "those that have it"
)
PUSHED_TO_KAGGLE = point(
    "kaggle.api.kaggle_api_extended.KaggleApi",
    "competition_submit dataset_create_new dataset_create_version kernels_push"
    " model_create_new model_instance_create model_instance_version_create",
    "pushes",
    "those that have it",
)
MAILED = point("smtplib.SMTP", "", "mail is sent: each call as it is answered")
SENT_BY_FTP = point("ftplib.FTP", "storbinary storlines delete rename mkd rmd", "files are sent")
WANDB_RUN = _tracker("wandb", "init")
MLFLOW_RUN = _tracker("mlflow", "start_run")
MLFLOW_ADDRESSED = point("mlflow", "set_tracking_uri set_registry_uri", "a tracker's server")
COMET_RUN = _tracker("comet_ml", "start", releases="3")
NEPTUNE_RUN = _tracker("neptune", "init_run init_model", releases="1")
NEPTUNE_SCALE_RUN = _tracker("neptune_scale", "Run")
CLEARML_RUN = _tracker("clearml.Task", "init")
SWANLAB_RUN = _tracker("swanlab", "init")
DVCLIVE_RUN = _tracker("dvclive", "Live")
PROCESS_ENDED = point("os", "kill _exit", "a cell of a notebook restarts its kernel")
SHELL_ASKED = point("builtins", "get_ipython", "a cell asks for its notebook's shell")
SHELL_OF_IPYTHON = point("IPython.core.getipython", "get_ipython", "a library asks for it")
SOURCE_READ = point("linecache", "updatecache", "the lines of a changed source are read")
CHANNEL_OPENED = point(
    "grpc grpc.aio", "secure_channel insecure_channel", "calls of another machine, by gRPC"
)
CHANNEL_CALLS = point(
    "", "unary_unary unary_stream stream_unary stream_stream", "each, by its name"
)

# In the user's own process: `tpudiag.track` and `tpudiag.ThroughputCallback`.
TRACED = _observed(
    "tensorflow.python.eager.polymorphic_function.tracing_compilation",
    "_create_concrete_function",
    "a function is traced",
    "2.14 to 2.21",
)
_KEEPERS = (
    "tensorflow.python.checkpoint.checkpoint.Checkpoint"
    " tensorflow.python.checkpoint.checkpoint.CheckpointV1"
    " tensorflow.python.checkpoint.checkpoint_management.CheckpointManager"
)
KEPT = _observed(_KEEPERS, "save write", "steps wait for a checkpoint")
RESTORED = _observed(_KEEPERS, "restore read restore_or_initialize", "steps wait for a checkpoint")
MODEL_KEPT = _observed(
    "", "save save_weights", "steps wait for a model", "Keras 2 and 3", holder=Holder.DEFINERS
)
MODEL_RESTORED = _observed(
    "", "load_weights", "steps wait for a model", "Keras 2 and 3", holder=Holder.DEFINERS
)
UNCAUGHT = _until_exit("sys", "excepthook", "the run ends by an exception")
UNCAUGHT_IN_THREAD = _until_exit("threading", "excepthook", "the same")
EXITED = _until_exit("sys", "exit", "the run ends by an exit code")
QUIT = _until_exit("_sitebuiltins.Quitter", "__call__", "the same")


# JAX.
JAX_DEVICES = point(
    "jax",
    "devices local_devices device_count local_device_count",
    "any backend named stands for the one that is there",
)
JAX_MEMORY = point("jax.Device", "memory_stats", "a CPU device says nothing of its memory")
JAX_BACKEND = point("jax", "default_backend", "a line of the job's asks for the TPU")
JAX_CONFIGURED = point("jax.config", "update", "the platform stays the CPU")
JAX_DISTRIBUTED = point("jax.distributed", "initialize", "several processes are rehearsed as one")
JITTED = point("jax", "jit", "a function is made to be compiled")
MAPPED = point("jax", "pmap", "the same, on each device")
DIFFERENTIATED = point("jax", "grad value_and_grad vjp linearize", "gradients are taken")
JAX_ARRAY_ASKED = point(
    "jax._src.array.ArrayImpl",
    "__float__ __int__ __bool__ __array__ __format__ __repr__ __reduce__ item tolist"
    " block_until_ready",
    "the host waits for a value",
    "0.4.30 to 0.10",
)
JAX_OPERATION_RUN = point(
    "jax._src.core.EvalTrace",
    "process_primitive",
    "an operation runs by itself, outside jax.jit",
    "0.4.30 to 0.10",
)
JAX_VALUES_ASKED = point("jax", "block_until_ready device_get", "the host waits for values")
MESH_MADE = point(
    "jax jax.experimental.mesh_utils",
    "make_mesh create_device_mesh",
    "JAX puts a TPU's devices in the order of their links",
    "make_mesh: from 0.4.35 on",
)
RATE_SCHEDULED = point(
    "optax optax._src.transform",
    "scale_by_schedule",
    "which schedule an optimizer's learning rate follows",
    "0.1.7 to 0.2.6",
)
STEPS_ACCUMULATED = point("optax.MultiSteps", "__init__", "how many calls make an update")
MODULE_INITIALISED = point("flax.linen.Module", "init", "weights are made by what it is given")
JAX_ARRAYS_CHANGED = point(
    "jax.numpy jax.nn",
    "reshape transpose swapaxes moveaxis expand_dims squeeze concatenate stack one_hot",
    "what is not there is of another shape",
)
JAX_EXAMPLE_MADE = point(
    "jax.numpy jax.random", "ones zeros normal uniform", "an array of a shape that the job tells"
)
JAX_SENT = point("jax jax.numpy", "device_put asarray array", "arrays are sent to devices")
