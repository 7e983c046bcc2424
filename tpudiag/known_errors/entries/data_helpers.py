# ruff: noqa: E501  (what is recognised, sentences and what is pasted stay in one piece)
"""Errors of what prepares data: Keras's preprocessing, folders of files, archives, Arrow tables."""

from tpudiag.known_errors.model import KnownError, Phase, Rival

ERRORS = (
    KnownError(
        id="E881",
        family="tensor-as-path",
        phase=Phase.READING,
        patterns=(r"expected str, bytes or os\.PathLike object, not '?(?P<type>\w{0,20}Tensor)",),
        cause="A Python function that opens files (open, np.load, cv2.imread, PIL, pandas, os.path) is called with a tensor: in dataset.map the path is a symbolic tensor that has no value in Python.",
        details=("It is a {type}.",),
        fix="""\
def load(path): data = tf.io.read_file(path); return tf.io.decode_jpeg(data, channels=3)      # TensorFlow's own functions: run on every host, in parallel
dataset = tf.data.Dataset.from_tensor_slices(paths).map(load, num_parallel_calls=tf.data.AUTOTUNE)
array = tf.numpy_function(lambda path: np.load(path.decode()).astype("float32"), [path], tf.float32); array.set_shape([...])      # where only Python can read it: one process, not from a TPU Node
path = path.numpy().decode()                                                                   # an eager tensor, outside map""",
        useless="tf.config.run_functions_eagerly does not reach the functions of dataset.map.",
        evidence="reproduced",
        example="TypeError: expected str, bytes or os.PathLike object, not Tensor",
        near_miss="TypeError: expected str, bytes or os.PathLike object, not NoneType",
    ),
    KnownError(
        id="E882",
        family="sequence-too-short",
        phase=Phase.READING,
        patterns=(
            r"`?start_index\+length=(?P<first>-?\d{1,9}) > end_index=(?P<last>-?\d{1,9})`? is disallowed",
            r"`?sequence_length`?.{0,80}?(?:longer|greater|larger) than.{0,80}?(?:data|sequence)",
        ),
        cause="The series is not longer than the window: TimeseriesGenerator needs at least length + 1 rows, and the test part or the validation split often has fewer.",
        details=("The first window would end at {first}, the series at {last}.",),
        fix="""\
length = min(LENGTH, len(series) - 1); generator = TimeseriesGenerator(series, targets, length=length, batch_size=1)
test = np.concatenate([train[-LENGTH:], test])                                   # give the test part the rows before it
dataset = keras.utils.timeseries_dataset_from_array(series[:-LENGTH], series[LENGTH:], sequence_length=LENGTH, batch_size=B)      # Keras 3""",
        evidence="reproduced",
        example="ValueError: `start_index+length=50 > end_index=49` is disallowed, as no part of the sequence would be left to be used as current step.",
    ),
    KnownError(
        id="E883",
        family="tokenizer-not-fitted",
        phase=Phase.READING,
        patterns=(
            r"Specify a dimension \(`?num_words`? argument\), or fit on some text",
            r"Fit the Tokenizer on some data before using tfidf",
        ),
        cause="texts_to_matrix or sequences_to_matrix is called on a Tokenizer that has seen no text: fit_on_texts was left out, was given an empty list, or belongs to another Tokenizer object.",
        fix="""\
tokenizer = Tokenizer(num_words=10_000); tokenizer.fit_on_texts(train_texts)      # first, on the training texts only
matrix = tokenizer.texts_to_matrix(texts)
vectorize = keras.layers.TextVectorization(max_tokens=10_000, output_mode="multi_hot"); vectorize.adapt(train_texts)      # Keras 3""",
        evidence="reproduced",
        example="ValueError: Specify a dimension (`num_words` argument), or fit on some text data first.",
    ),
    KnownError(
        id="E884",
        family="not-a-path",
        phase=Phase.READING,
        patterns=(
            r"path should be path-like or io\.BytesIO, not (?:<class ')?(?P<type>[\w.]{1,60})",
        ),
        cause="load_img takes the path of one file (or a BytesIO): it was given a list of paths, an array, an upload of a web page, or None.",
        details=("It got {type}.",),
        fix="""\
images = [keras.utils.img_to_array(keras.utils.load_img(path, target_size=(224, 224))) for path in paths]      # one path each
image = keras.utils.load_img(io.BytesIO(upload.read()), target_size=(224, 224))                                  # an uploaded file
image = keras.utils.array_to_img(array)                                                                          # an array is an image already""",
        evidence="reproduced",
        example="TypeError: path should be path-like or io.BytesIO, not <class 'list'>",
    ),
    KnownError(
        id="E885",
        family="archive-member",
        phase=Phase.READING,
        patterns=(
            r"There is no item named \W{0,4}(?P<name>(?!config\.json)[^'\"]{1,160}?)\W{0,3} in the archive",
        ),
        cause="The zip archive has no such member: within an archive names have forward slashes (on Windows os.path.join and older TensorFlow Datasets make backslashes), or the archive has another folder at its top.",
        details=("The name is {name}.",),
        fix="""\
print(zipfile.ZipFile(PATH).namelist()[:5])            # the names as they are
name = name.replace("\\\\", "/")                          # a code of your own on Windows
pip install -U tfds-nightly                             # TensorFlow Datasets on Windows (cats_vs_dogs): mended in later releases""",
        evidence="recalled",
        example="KeyError: \"There is no item named 'PetImages\\\\Cat\\\\0.jpg' in the archive\"",
        near_miss="KeyError: \"There is no item named 'config.json' in the archive\"",
    ),
    KnownError(
        id="E886",
        family="rows-do-not-match",
        phase=Phase.READING,
        patterns=(
            r"Column (?P<column>\d{1,4}) named '?(?P<name>[\w.-]{1,60})'? expected length (?P<wanted>\d{1,12}) but got length (?P<got>\d{1,12})",
        ),
        cause="A batched map of Hugging Face's datasets gave another number of rows than it took (long texts cut into several pieces, return_overflowing_tokens, a filter in it) and the old columns are kept beside the new ones.",
        details=("`{name}` has {got} rows and the others {wanted}.",),
        fix="""\
dataset = dataset.map(tokenize, batched=True, remove_columns=dataset.column_names)      # only the new columns stay
# labels with overflowing tokens: repeat them by sample = encoded.pop("overflow_to_sample_mapping"); encoded["label"] = [batch["label"][i] for i in sample]""",
        evidence="recalled",
        example="pyarrow.lib.ArrowInvalid: Column 1 named input_ids expected length 1000 but got length 1003",
    ),
    KnownError(
        id="E887",
        family="hub-unreachable",
        phase=Phase.READING,
        patterns=(
            r"Couldn't reach (?:https?://)?[\w./-]{0,20}(?:huggingface|hf)\.\w{2,3}\S{0,120}",
            r"Couldn't reach '?[\w./-]{1,100}'? on the Hub",
            r"cannot find the requested files in the (?:disk|local) cache and outgoing traffic",
            r"OfflineModeIsEnabled",
            r"(?:Max retries exceeded with url|Failed to resolve|NameResolutionError).{0,300}?huggingface\.co",
            r"huggingface\.co.{0,300}?(?:Max retries exceeded|NameResolutionError|Connection ?(?:aborted|reset|refused|timed out))",
        ),
        cause="The Hugging Face hub is not reached, and the files are not in the cache of this machine.",
        fix="""\
curl -sI huggingface.co | head -1                                   # is there a way out? an answer means yes
huggingface-cli download OWNER/NAME --local-dir NAME               # where there is one; then copy the folder: from_pretrained("./NAME")
export HF_HOME=/mnt/disks/data/hf HF_HUB_OFFLINE=1                  # a cache that was filled before
pip install -U huggingface_hub transformers datasets                # old releases use addresses that are gone""",
        rivals=(
            Rival(
                cause="the machine has no way to the internet: Kaggle with Internet off, a VM without external address, a proxy",
                look_for="Failed to resolve, NameResolutionError, Network is unreachable, ProxyError",
                decide="curl -sI huggingface.co | head -1",
                fix="# Kaggle: Settings, Internet on (or attach the model as an input and load it from /kaggle/input)\ngcloud compute networks subnets update SUBNET --region=REGION --enable-private-ip-google-access      # not enough for the hub: Cloud NAT\nexport HTTPS_PROXY=http://PROXY:PORT",
                cues=(
                    r"Failed to resolve",
                    r"NameResolutionError",
                    r"Network is unreachable",
                    r"Temporary failure in name resolution",
                    r"ProxyError",
                ),
            ),
            Rival(
                cause="offline mode is set, and the files were never fetched",
                look_for="HF_HUB_OFFLINE, TRANSFORMERS_OFFLINE, local_files_only=True",
                decide="env | grep -iE 'offline|HF_'",
                fix="unset HF_HUB_OFFLINE TRANSFORMERS_OFFLINE HF_DATASETS_OFFLINE      # for the first run",
                cues=(
                    r"OfflineModeIsEnabled",
                    r"offline mode is enabled",
                    r"outgoing traffic has been disabled",
                ),
            ),
            Rival(
                cause="the hub or its storage did not answer for a while, or too many requests came from this address",
                look_for="429, 503, 504, Read timed out; it goes through later",
                decide="try again after some minutes",
                fix="export HF_HUB_DOWNLOAD_TIMEOUT=60      # one host downloads and puts it into a bucket; the others read there",
                cues=(r"Read timed out", r"Too Many Requests", r"50[234] Server Error"),
            ),
        ),
        evidence="recalled",
        example="ConnectionError: Couldn't reach https://huggingface.co/datasets/x/resolve/main/y.py (ConnectionError)",
        near_miss="requests.exceptions.ConnectionError: HTTPSConnectionPool(host='example.org', port=443): Max retries exceeded with url: /x",
    ),
    KnownError(
        id="E889",
        family="resource-elsewhere",
        phase=Phase.READING,
        patterns=(
            r"Resource (?P<where>\w{1,30})/\S{0,80}?(?P<what>Sentencepiece|lookup\d{0,3}LookupInterface|Tokenizer|Vocab)\w{0,40} does not exist",
            r"Trying to access resource .{0,60}?located in device (?P<there>/job:\w{1,20}/\S{1,60}) from device (?P<here>/job:\w{1,20}/\S{1,60})",
            r"Resource handles? .{0,80}?(?:different|another|wrong) device",
        ),
        cause="A lookup table, tokenizer or other resource was made on one device or in one process, and the function that uses it runs on another: TensorFlow cannot reach it from there. On a TPU Node everything that is made after the connection lives on its worker, and dataset functions may run on the client (or the reverse); tf.py_function and the tf.data service run elsewhere too.",
        details=("It is on {there} and is used on {here}.",),
        fix="""\
dataset = dataset.map(lambda text: tokenizer.tokenize(text))          # straight in map: no tf.py_function around it
with tf.device("/job:localhost"): table = tf.lookup.StaticHashTable(...)      # before the TPU is connected to, or on the client with its dataset
ids = [vocabulary[word] for word in words]                              # a TPU Node: numbers instead of texts, written to TFRecord files once
# a TPU VM (tpu="local"): tables and datasets are in your own process""",
        rivals=(
            Rival(
                cause="the table was made on the client, and the dataset runs on the TPU Node's worker (or the reverse)",
                look_for="/job:worker beside /job:localhost in the message, grpc:// in the script",
                decide="grep -nE 'TPUClusterResolver|lookup|Tokenizer' train.py      # which comes first?",
                cues=(r"/job:worker.{0,600}?/job:localhost", r"/job:localhost.{0,600}?/job:worker"),
            ),
            Rival(
                cause="tf.py_function, a generator or the tf.data service calls it in another process",
                look_for="py_function, pyfunc_, EagerPyFunc or DataService in the traceback",
                decide="grep -nE 'py_function|numpy_function|data.experimental.service' train.py",
                cues=(r"py_func", r"pyfunc", r"DataService", r"data_service"),
            ),
        ),
        citations=("tensorflow/text#374", "tensorflow/tensorflow#47531"),
        example="NotFoundError: Resource localhost/_0_SentencepieceOp/N10tensorflow4text12_GLOBAL__N_121SentencepieceResourceE does not exist. [Op:SentencepieceTokenizeOp]",
    ),
    KnownError(
        id="E890",
        family="stateful-in-dataset",
        phase=Phase.READING,
        patterns=(
            r"Failed to serialize the input pipeline graph: ?(?P<op>\w{1,60}) is stateful",
            r"(?P<op>\w{1,60}) is stateful\. ?\[Op:(?:RegisterDataset|DatasetToGraph|SerializeIterator)",
            r"(?:SerializeIterator|Failed to (?:serialize|save) .{0,60}?iterator).{0,160}?is stateful",
        ),
        cause="The dataset is to be sent elsewhere or saved (tf.data service, several workers, an iterator in a checkpoint), and a function in it has a state of its own: a random generator, a table, a variable, tf.py_function. Its state cannot go along.",
        details=("The operation is {op}.",),
        fix="""\
options = tf.data.Options(); options.experimental_external_state_policy = tf.data.experimental.ExternalStatePolicy.WARN      # send it without its state
dataset = dataset.with_options(options)
image = tf.image.stateless_random_flip_left_right(image, seed=seed)      # stateless random operations: a seed from dataset.enumerate() or tf.data.Dataset.random
dataset = dataset.apply(tf.data.experimental.service.distribute(...)).map(lookup)      # tables after the part that is sent""",
        citations=("tensorflow/tensorflow#47531",),
        example="FailedPreconditionError: Failed to serialize the input pipeline graph: ResourceGather is stateful. [Op:RegisterDatasetV2]",
    ),
    KnownError(
        id="E891",
        family="feature-type",
        phase=Phase.READING,
        patterns=(
            r"has type (?P<type><class '[\w.]{1,60}'>|[\w.]{1,40}), but expected one of: {0,2}\({0,3}(?:<class ')?(?P<wanted>bytes|int|long|float|numbers\.\w{4,8}|str|unicode|bool)",
            r"bad argument type for built-in operation",
            r"Protocol message (?P<message>\w{1,40}) has no \W?(?P<field>\w{1,60})\W? field",
        ),
        cause="A message (tf.train.Feature, Example) is filled with values of another type than its list has: bytes_list takes bytes, int64_list whole numbers, float_list floats, each as a flat Python list.",
        details=(
            "It got {type}, and takes {wanted}.",
            "{message} has no field {field}: an Example holds `features` only, by name in a dict.",
        ),
        fix="""\
tf.train.Feature(bytes_list=tf.train.BytesList(value=[text.encode()]))                  # a str becomes bytes; a file: open(path, "rb").read()
tf.train.Feature(int64_list=tf.train.Int64List(value=[int(label)]))                      # 5.0, a NumPy or tensor scalar: int(...)
tf.train.Feature(float_list=tf.train.FloatList(value=np.ravel(array).tolist()))          # an array: flat, and its shape as a feature of its own
tf.train.Feature(bytes_list=tf.train.BytesList(value=[tf.io.serialize_tensor(x).numpy()]))      # or whole, read with tf.io.parse_tensor
example = tf.train.Example(features=tf.train.Features(feature={"label": ...}))""",
        evidence="recalled",
        example="TypeError: 5.0 has type float, but expected one of: int, long",
        near_miss="TypeError: expected one of: int, long",
    ),
    KnownError(
        id="E892",
        family="file-name-refused",
        phase=Phase.SAVING,
        patterns=(
            r"\[Errno 22\] Invalid argument: '(?P<path>[^']{1,200})'",
            r"\[Errno 36\] File name too long(?:: '(?P<long>[^']{1,80}))?",
            r"\[WinError 123\].{0,200}?'(?P<windows>[^']{1,200})'",
        ),
        cause="The name of the file is none that this system takes: on Windows no colon, quote, star or question mark (a time of day in the name of a log folder), no backslash escapes (\\t, \\n) in a path that is not a raw string; anywhere no part over 255 bytes (a whole list or text that was made a name).",
        details=("It is {path}.", "It is {windows}.", "It begins with {long}."),
        fix="""\
log_dir = "logs/" + datetime.now().strftime("%Y%m%d-%H%M%S")      # no colons
path = r"C:\\data\\train"; path = pathlib.Path("C:/data/train")      # raw, or forward slashes
print(repr(path), len(os.path.basename(path)))                       # what it really is""",
        evidence="recalled",
        example="OSError: [Errno 22] Invalid argument: 'logs\\\\20230101-12:00:00'",
    ),
    KnownError(
        id="E895",
        family="label-map",
        phase=Phase.READING,
        patterns=(
            r"label_?map\.ParseFromString\(.{0,160}?(?:DecodeError|ParseError)",
            r"in load_labelmap.{0,400}?(?:DecodeError|ParseError|UnicodeDecodeError)",
            r"Label map id 0 is reserved for the background",
        ),
        cause="The label map of the Object Detection API cannot be read: an item is not written as text format wants it (quotes, braces, a byte order mark, curly quotes of a word processor), the ids do not begin with 1, or the path is that of another file.",
        fix="""\
head -c 200 label_map.pbtxt | cat -A | head      # item { id: 1 name: 'dog' } item { id: 2 name: 'cat' }: ids from 1, straight quotes, no BOM
python -c "from object_detection.utils import label_map_util as u; print(u.get_label_map_dict('label_map.pbtxt'))"      # reads it alone""",
        citations=("RomRoc/objdet_train_tensorflow_colab#4",),
        example="label_map.ParseFromString(label_map_string) google.protobuf.message.DecodeError: Error parsing message",
    ),
    KnownError(
        id="E896",
        family="npy-pickled",
        phase=Phase.READING,
        patterns=(
            r"Object arrays cannot be loaded when allow_pickle=False",
            r"Cannot load file containing pickled data when allow_pickle=False",
            r"Failed to interpret file .{1,160}? as a pickle",
        ),
        cause="np.load meets a pickle and may not read it: an array of objects (lists of different lengths, dicts, texts), or a file that is no .npy or .npz at all (a page of an error, a pointer of git-lfs, an empty or half written file) and is therefore taken for a pickle. Keras before 2.2.5 (TensorFlow 1.13) has it in imdb.load_data and reuters.load_data since NumPy 1.16.3.",
        fix="""\
file x.npy; head -c 60 x.npy                       # \\x93NUMPY or PK (npz) at its beginning? else fetch it again
x = np.load("x.npy", allow_pickle=True)             # a file that you trust; .item() where a dict was saved
pip install -U tensorflow                           # imdb.load_data; or numpy==1.16.2 with an old TensorFlow
np.savez("x.npz", x=np.stack(rows))                 # better: arrays of numbers, padded to one length""",
        evidence="reproduced",
        example="ValueError: Object arrays cannot be loaded when allow_pickle=False",
    ),
)
