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
        citations=("tensorflow/datasets#3918",),
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
        citations=("huggingface/datasets#1817",),
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
        citations=("huggingface/datasets#759",),
        example="ConnectionError: Couldn't reach https://huggingface.co/datasets/x/resolve/main/y.py (ConnectionError)",
        near_miss="requests.exceptions.ConnectionError: HTTPSConnectionPool(host='example.org', port=443): Max retries exceeded with url: /x",
    ),
)
