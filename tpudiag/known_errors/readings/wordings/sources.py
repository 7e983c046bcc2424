# ruff: noqa: E501  (sentences and what is pasted stay in one piece)
"""Wordings of where data come from: images, records, arrays, downloads, machines."""

from __future__ import annotations

from .wording import Wording, Wordings

_EACH = "for path in paths:                      # once, in plain Python: names those that fail\n    try: tf.io.decode_image(open(path, 'rb').read(), channels=3, expand_animations=False)\n    except tf.errors.InvalidArgumentError as error: print(path, error)"

SOURCES: Wordings = {
    "E649": (
        Wording(
            r"got unknown format starting with '(?:RIFF|.{0,40}WEBP)",
            "A WebP image is among the files (browsers save it as .jpg or .png), and this TensorFlow decodes JPEG, PNG, GIF and BMP only; newer releases have tf.io.decode_webp.",
            'file images/* | grep -i "web/p"      # which\nfor f in *.jpg; do file "$f" | grep -qi "web/p" && mogrify -format jpg "$f"; done      # convert them once (ImageMagick), or leave them out',
            "InvalidArgumentError: Expected image (JPEG, PNG, or GIF), got unknown format starting with 'RIFF\\264J\\000\\000WEBPVP8 ' [Op:DecodePng]",
        ),
        Wording(
            r"Trying to decode BMP format using (?:a )?wrong op",
            "A BMP file is among the images, whatever its name says, and it is given to decode_jpeg, decode_png or a reader for them.",
            "image = tf.io.decode_image(data, channels=3, expand_animations=False)      # JPEG, PNG, GIF and BMP",
            "InvalidArgumentError: Trying to decode BMP format using a wrong op. Use `decode_bmp` or `decode_image` instead. Op used: DecodeJpeg",
        ),
        Wording(
            r"Number of channels inherent in the image must be 1, 3 or 4, was (?P<n>\d)",
            "An image has <<n>> channels (2 is gray with transparency), which the decoder does not take.",
            'from PIL import Image; Image.open(path).convert("RGB").save(path)      # each such file, once\n'
            + _EACH,
            "InvalidArgumentError: Number of channels inherent in the image must be 1, 3 or 4, was 2 [Op:DecodeImage]",
        ),
        Wording(
            r"(?:Input is empty|got empty file|Invalid (?:JPEG|PNG) data(?: or crop window)?, (?:data )?size 0(?!\d))",
            "A file of an image is empty (0 bytes): a download or copy that failed, or a record whose image was never written.",
            "find DATA -size 0 -delete      # a bucket: gcloud storage ls -l 'gs://BUCKET/**' | awk '$1 == 0'\ndataset = dataset.filter(lambda data: tf.strings.length(data) > 0)      # records",
            "InvalidArgumentError: Input is empty. [[{{node decode_image/DecodeImage}}]] [[IteratorGetNext]]",
        ),
        Wording(
            r"Invalid (?P<format>JPEG|PNG) data(?: or crop window)?, (?:data )?size (?P<size>\d{1,12})",
            "Data of <<size>> bytes are no whole <<format>>: a file that is damaged, cut off or of another format, or pixels that were written as they are (height x width x channels bytes).",
            _EACH
            + "\nimage = tf.reshape(tf.io.decode_raw(data, tf.uint8), [HEIGHT, WIDTH, 3])      # where <<size>> is height x width x channels",
            "InvalidArgumentError: Invalid JPEG data or crop window, data size 36864",
        ),
    ),
    "E129": (
        Wording(
            r"inflate\(\) failed with error -3: (?:incorrect header check|unknown compression method)",
            'A file that is not compressed (or otherwise, or is damaged at its start) is read with compression_type="GZIP" or "ZLIB".',
            'dataset = tf.data.TFRecordDataset(files)                               # without compression_type\nfile train-*.tfrecord | head                                            # gzip compressed data? then compression_type="GZIP"',
            "DataLossError: inflate() failed with error -3: incorrect header check [Op:IteratorGetNext]",
        ),
        Wording(
            r"corrupted record at 0\b(?!\d)",
            "The very first record of a file is not one: the file is compressed and compression_type is not given, it is no TFRecord at all (CSV, an index, an .npz, a web page, a pointer of git-lfs), or it is damaged from its start.",
            'file FILE; head -c 60 FILE                                              # gzip, text, HTML?\ndataset = tf.data.TFRecordDataset(files, compression_type="GZIP")      # where it is gzip; else leave it out of the pattern\nfiles = tf.io.gfile.glob("gs://BUCKET/train-*.tfrecord"); print(files)  # only records match?',
            "DataLossError: corrupted record at 0 [Op:IteratorGetNext]",
        ),
    ),
    "E25": (
        Wording(
            r"scheme '\[local\]' not implemented.{0,20}?\(file: '(?P<path>[^']{0,120}tfhub_modules[^']{0,160})'",
            "TF Hub put the module into a cache on the client's disk, which the TPU Node's worker cannot read.",
            'os.environ["TFHUB_MODEL_LOAD_FORMAT"] = "UNCOMPRESSED"      # before tensorflow_hub is imported: it is read from its bucket\noptions = tf.saved_model.LoadOptions(experimental_io_device="/job:localhost")\nmodel = hub.load(URL, options=options)                       # or: the client reads; hub.KerasLayer(URL, load_options=options)\nos.environ["TFHUB_CACHE_DIR"] = "gs://BUCKET/tfhub"          # or: a cache in a bucket',
            "InvalidArgumentError: Unsuccessful TensorSliceReader constructor: Failed to get matching files on /tmp/tfhub_modules/9f75/variables/variables: Unimplemented: File system scheme '[local]' not implemented (file: '/tmp/tfhub_modules/9f75/variables/variables')",
        ),
    ),
    "E119": (
        Wording(
            r"NewRandomAccessFile failed to Create/Open: (?P<path>[^;]{1,160}?) ?: (?:The system cannot find|The filename, directory name)",
            "There is no file <<path>> for Windows: the path is wrong, or holds backslashes that Python read as escapes (\\t, \\n) or a line end from a list of names.",
            'path = r"C:\\data\\img.jpg"                           # r"..." or forward slashes\nassert tf.io.gfile.exists(path), repr(path)            # repr shows \\r, \\n, blanks: line.strip()',
            "NotFoundError: NewRandomAccessFile failed to Create/Open: C:\\data\\img.jpg : The system cannot find the path specified. ; No such process",
        ),
    ),
    "E211": (
        Wording(
            r"Data cardinality is ambiguous.{0,120}?'?x'? sizes: (?P<x>\d{1,12}).{0,40}?'?y'? sizes: (?P<y>\d{1,12})",
            "There are <<x>> examples and <<y>> labels.",
            "print(np.shape(x), np.shape(y))                      # the first numbers must be equal: transposed, one-hot along the wrong axis, a split of one alone?\ny = y[:len(x)]                                        # only where the rest belongs to nothing",
            "ValueError: Data cardinality is ambiguous. Make sure all arrays contain the same number of samples.'x' sizes: 100 'y' sizes: 90",
        ),
    ),
    "E212": (
        Wording(
            r"Dataset\w{0,8}' object has no attribute 'class_names'",
            "class_names is of the dataset that image_dataset_from_directory gives: map, batch, prefetch and cache give a new dataset without it.",
            "train = keras.utils.image_dataset_from_directory(FOLDER, ...)\nclass_names = train.class_names                       # first\ntrain = train.cache().prefetch(tf.data.AUTOTUNE)      # then",
            "AttributeError: 'BatchDataset' object has no attribute 'class_names'",
        ),
        Wording(
            r"(?:dataset length is unknown|object of type '_?\w{1,40}Dataset\w{0,8}' has no len)",
            "tf.data does not know how long this dataset is: it has a filter, a generator, flat_map or TFRecord files in it (TensorFlow before 2.3 has no len() of datasets at all).",
            "dataset = dataset.apply(tf.data.experimental.assert_cardinality(N))      # where you know it: len() and Keras's progress work then\nsize = sum(1 for _ in dataset)                                            # counts it, once\nmodel.fit(dataset.repeat(), steps_per_epoch=N // global_batch)            # or tell fit",
            "TypeError: The dataset length is unknown.",
        ),
        Wording(
            r"Dataset\w{0,8}' object is not subscriptable",
            "A dataset has no index: it is read from its start.",
            "images, labels = next(iter(dataset))                                     # the first batch\nx = np.concatenate([x for x, y in dataset.as_numpy_iterator()])          # all of it as an array, where it fits in memory\ntrain, valid = dataset.skip(N), dataset.take(N)                           # in place of slices",
            "TypeError: 'PrefetchDataset' object is not subscriptable",
        ),
        Wording(
            r"'(?:ImageDataGenerator|DirectoryIterator|NumpyArrayIterator|DataFrameIterator)' object has no attribute '(?P<what>\w{1,40})'",
            "A generator of images is used like an array: it has no `<<what>>`, and goes to fit alone (its batches hold the labels).",
            "generator = ImageDataGenerator(...).flow_from_directory(FOLDER)      # the generator itself has no data yet\nmodel.fit(generator, epochs=EPOCHS)                                   # no y=, batch_size= or validation_split=\nimages, labels = next(generator); print(images.shape)                  # one batch\nlabels = generator.classes; names = generator.class_indices",
            "AttributeError: 'DirectoryIterator' object has no attribute 'ndim'",
        ),
    ),
    "E216": (
        Wording(
            r"NonMatchingChecksumError.{0,120}?(?:Artifact )?(?P<url>https?://[\w./%?=&~-]{1,160})",
            "What came from <<url>> is not the file that TensorFlow Datasets knows: the source changed it (or its server gave a page: Google Drive's quota, a login), or the download was cut off.",
            'ls -l ~/tensorflow_datasets/downloads; file ~/tensorflow_datasets/downloads/*      # a page of HTML? delete it\npip install -U tfds-nightly                                                         # newer checksums\ntfds.load(NAME, download_and_prepare_kwargs={"download_config": tfds.download.DownloadConfig(register_checksums=True)})      # you trust the new file',
            "NonMatchingChecksumError: Artifact https://host.example/x.zip, downloaded to /root/x.tmp, has wrong checksum",
        ),
        Wording(
            r"Dataset '(?P<name>[\w./-]{1,80})' (?:doesn't exist on the Hub|not found on the Hub)",
            "`<<name>>` is not on the Hugging Face hub for this user: the name is misspelt or lacks its owner, it is private or gated, or the machine has no way out.",
            'huggingface-cli login; export HF_TOKEN=...                 # private or gated: and accept its terms on its page\ndatasets.load_dataset("OWNER/NAME")                        # with the owner\npip install -U datasets huggingface_hub',
            "datasets.exceptions.DatasetNotFoundError: Dataset 'x/y' doesn't exist on the Hub or cannot be accessed.",
        ),
        Wording(
            r"Dataset (?P<name>[\w/.-]{1,60}): could not find data in (?P<folder>[\w/.:~-]{1,120}?)(?=\.?\s{0,4}Please|[^\w/.:~-]|$)",
            "`<<name>>` was never prepared in <<folder>>, and download=False (or as_dataset alone) prepares nothing.",
            'builder = tfds.builder("<<name>>", data_dir="gs://BUCKET/tfds"); builder.download_and_prepare()      # once\ndataset = tfds.load("<<name>>", data_dir="gs://BUCKET/tfds")                                              # the same data_dir for all hosts',
            "AssertionError: Dataset coco: could not find data in /root/tensorflow_datasets. Please make sure to call dataset_builder.download_and_prepare()",
        ),
    ),
    "E486": (
        Wording(
            r"dataset you are trying to use \((?P<name>[\w/-]{1,60}?)[/:](?P<version>\d[\d.]{1,10})\) is too old.{0,300}?download_and_prepare`?: ?\['(?P<there>[\d.]{1,10})",
            "This TensorFlow Datasets can no longer make <<name>> in version <<version>>: it makes <<there>>. What was prepared before can still be read, by an older release or from its folder.",
            'dataset = tfds.load("<<name>>:<<there>>", data_dir="gs://BUCKET/tfds")           # T5, t5x: the version in the task (gin, tasks.py)\ndataset = tfds.builder_from_directory("gs://BUCKET/tfds/<<name>>/<<version>>").as_dataset(split="train")      # prepared before',
            "ValueError: The version of the dataset you are trying to use (c4/en/2.2.0) is too old for this version of TFDS so cannot be generated.Either sync to a previous version of TFDS to first prepare the data or use another version of the dataset. Available for `download_and_prepare`: ['3.0.1']",
        ),
        Wording(
            r"Failed importing (?P<name>[\w.]{1,40})\. ?This likely means",
            "The recipe of this data set needs the package <<name>>, which TensorFlow Datasets does not bring along.",
            "pip install <<name>>                                 # apache_beam: pip install apache-beam; for large sets run it on Dataflow, not on the TPU's host\ntfds.load(NAME, try_gcs=True)                        # or a copy that is prepared already: reading needs no such package",
            "ImportError: Failed importing apache_beam. This likely means that the dataset requires additional dependencies that have to be manually installed (usually with `pip install apache_beam`).",
        ),
        Wording(
            r"Unknown split .{1,4}?(?P<split>\w{1,30}).{1,4}? Should be one of (?P<there>\[[\w', -]{2,120}\])",
            "The dataset has no split `<<split>>`: it has <<there>>.",
            'train, valid = tfds.load(NAME, split=["train[:90%]", "train[90%:]"])      # a part of train in place of `<<split>>`',
            "ValueError: Unknown split 'validation'. Should be one of ['test', 'train'].",
        ),
    ),
    "E575": (
        Wording(
            r"argument should be a list/tuple of integer labels, of the same size as the number of (?P<what>\w{3,6}) files",
            "`labels` is no list with one integer for each <<what>> file: an array or Series, texts, or another number of them than files of a known ending were found.",
            "files = sorted(glob.glob(FOLDER + '/**/*.*', recursive=True)); print(len(files), len(labels))      # as many? labels stand in this order\nlabels = [int(each) for each in labels]                                                       # a list, no array or Series\ndataset = keras.utils.image_dataset_from_directory(FOLDER, labels='inferred')                # FOLDER/class_a/1.jpg; labels=None: images alone",
            "ValueError: The `labels` argument should be a list/tuple of integer labels, of the same size as the number of image files in the target directory.",
        ),
    ),
    "E625": (
        Wording(
            r"Dataset scripts are no longer supported, but found (?P<name>[\w-]{1,60})\.py",
            "datasets 4 runs no scripts from the hub, and `<<name>>` is (or resolves to) one: a short name that is now under its owner, a local file <<name>>.py, or a data set without a Parquet copy.",
            'datasets.load_dataset("OWNER/<<name>>")                                        # its full name on the hub: often Parquet by now\ndatasets.load_dataset("OWNER/<<name>>", revision="refs/convert/parquet")        # the copy that the hub made\npip install "datasets<4"                                                         # or the last that runs scripts, with trust_remote_code=True',
            "RuntimeError: Dataset scripts are no longer supported, but found squad.py",
        ),
    ),
    "E26": (
        Wording(
            r"default credentials were not found",
            "No account is set up on this machine for Google's libraries (gcloud's own login does not count for them).",
            "gcloud auth application-default login                          # a machine of your own\nfrom google.colab import auth; auth.authenticate_user()          # Colab\nexport GOOGLE_APPLICATION_CREDENTIALS=/path/key.json             # a service account's key; Kaggle: attach Google Cloud SDK\n# a VM: started without a service account; gcloud compute instances set-service-account",
            "google.auth.exceptions.DefaultCredentialsError: Your default credentials were not found. To set up Application Default Credentials, see the documentation.",
        ),
    ),
    "E124": (
        Wording(
            r"libcurl code 6 meaning",
            "The name of Google's storage service is not resolved: the machine has no way to the internet (no external address and no Private Google Access, Kaggle with Internet off, a container without DNS).",
            "getent hosts metadata.google.internal www.google.com      # resolved?\ngcloud compute networks subnets update SUBNET --region=REGION --enable-private-ip-google-access      # a VM without external address\ndocker run --net=host ...                                          # a container: the host's DNS",
            "AbortedError: All 10 retry attempts failed. The last failure: Error executing an HTTP request: libcurl code 6 meaning 'Couldn't resolve host name', error details: Could not resolve host: www.example",
        ),
    ),
    "E126": (
        Wording(
            r"/dev/shm|joblib will operate in serial mode|multiprocessing/(?:queues|context|synchronize|heap)\.py.{0,500}?No space left",
            "/dev/shm is full: it is memory, and a container has 64 MB of it unless told otherwise.",
            "df -h /dev/shm\ndocker run --shm-size=64g ...                # or -v /dev/shm:/mnt/shm and HF_HOME=/mnt/shm/hf; Kubernetes: an emptyDir with medium: Memory\nexport HF_HOME=/mnt/disks/data/hf TMPDIR=/mnt/disks/data/tmp      # or caches on a disk",
            "OSError: [Errno 28] No space left on device: '/dev/shm/cache/models/1.incomplete'",
        ),
    ),
    "E110": (
        Wording(
            r"Unable to allocate (?P<size>[\d.]{1,8} ?[KMGT]iB) for an array with shape (?P<shape>\([\d, ]{1,60}\)) and data type (?P<type>\w{1,12})",
            "NumPy wants <<size>> at once, for an array <<shape>> of <<type>>: the data do not fit the host's memory as one array.",
            'x = x.astype("float32")                                    # half of float64; uint8 for images: divide by 255 in the model\ndataset = tf.data.TFRecordDataset(files).map(parse)        # or read it piece by piece\nx = np.load("x.npy", mmap_mode="r")                        # or leave it on the disk',
            "MemoryError: Unable to allocate 29.3 GiB for an array with shape (60000, 256, 256) and data type float64",
        ),
    ),
    "E172": (
        Wording(
            r"module 'ml_dtypes' has no attribute '(?P<name>\w{1,30})'",
            "ml_dtypes is older than what imports it: `<<name>>` came with a later release (JAX and newer TensorFlow want 0.5; TensorFlow 2.15 to 2.18 hold it below).",
            'pip install -U "ml_dtypes>=0.5"                  # what imports it is in the traceback: tensorflow, jax or keras\npip check                                         # who else pins it: TensorFlow and JAX in environments of their own where they disagree',
            "AttributeError: module 'ml_dtypes' has no attribute 'float8_e3m4'",
        ),
    ),
    "E240": (
        Wording(
            r"lib(?P<name>GL|gthread-2\.0|SM|Xext|Xrender)\.so\.\d{1,2}: cannot open shared object",
            "OpenCV wants lib<<name>> of a desktop, which a server or container does not have.",
            "pip uninstall -y opencv-python && pip install opencv-python-headless\nsudo apt-get install -y libgl1 libglib2.0-0 libsm6 libxext6      # or the libraries themselves",
            "ImportError: libGL.so.1: cannot open shared object file: No such file or directory",
        ),
    ),
    "E498": (
        Wording(
            r"padded_batch\(\) missing \d required positional arguments?: 'padded_shapes'",
            "TensorFlow before 2.2 wants to be told the padded shapes; from 2.2 on they may be left out.",
            'pip install "tensorflow>=2.2"\ndataset.padded_batch(B, padded_shapes=tf.compat.v1.data.get_output_shapes(dataset), drop_remainder=True)      # or give them: ([None], [])',
            "TypeError: padded_batch() missing 1 required positional argument: 'padded_shapes'",
        ),
        Wording(
            r"to_tf_dataset\(\) missing \d required positional arguments?: '(?P<name>\w{1,30})'",
            "to_tf_dataset of older releases of datasets has no default for `<<name>>`.",
            'pip install -U datasets transformers\nfrom transformers import DefaultDataCollator                                          # or give it\ndataset.to_tf_dataset(columns=[...], label_cols=["labels"], shuffle=True, batch_size=B, collate_fn=DefaultDataCollator(return_tensors="tf"))',
            "TypeError: to_tf_dataset() missing 1 required positional argument: 'collate_fn'",
        ),
    ),
    "P29": (
        Wording(
            r"cannot import name '(?P<name>img_to_array|load_img|array_to_img|save_img)' from '(?:tensorflow\.)?keras\.preprocessing\.image'",
            "`<<name>>` moved: Keras 2.9 and later have it in keras.utils.",
            "from tensorflow.keras.utils import <<name>>      # TensorFlow 2.9 and later, Keras 3: keras.utils.<<name>>",
            "ImportError: cannot import name 'img_to_array' from 'keras.preprocessing.image' (/usr/lib/python3/dist-packages/keras/preprocessing/image.py)",
        ),
        Wording(
            r"No module named 'tensorflow\.keras'",
            "The `tensorflow` that is imported has no Keras: it is a file or folder of your own with that name, a broken or half removed installation (two wheels over each other), or TensorFlow before 1.4.",
            'python -c "import tensorflow as tf; print(tf.__version__, tf.__path__)"      # whose is it?\npip uninstall -y tensorflow tensorflow-cpu tensorflow-tpu tensorflow-intel keras; pip install tensorflow      # one of them, whole\n# an editor\'s red line alone is no error: the module is loaded lazily; from tensorflow import keras',
            "ModuleNotFoundError: No module named 'tensorflow.keras'",
        ),
    ),
    "E89": (
        Wording(
            r"Dimensions (?P<a>\d{1,9}) and (?P<b>\d{1,9}) are not compatible.{0,600}?(?:cross_?entropy|logits)",
            "Labels and the model's outputs differ in a dimension, <<a>> against <<b>>: mostly the number of classes (columns of the labels, units of the last layer; which is which the next lines say), else the batch.",
            "num_classes = len(LABELS)                  # one number for the labels, the last layer, and the checkpoint's head\nprint(labels.shape, logits.shape)          # which has <<a>>, which <<b>>?",
            "ValueError: Dimensions 6 and 11 are not compatible During handling of the above exception, another exception occurred: in sigmoid_cross_entropy_with_logits",
        ),
        Wording(
            r"ValueError: Dimensions (?P<a>\d{1,9}) and (?P<b>\d{1,9}) are not compatible",
            "Two parts of one dataset element have <<a>> and <<b>> rows (from_tensor_slices((x, y)) wants as many labels as examples), or two shapes that are merged differ there.",
            "print(np.shape(x), np.shape(y))                                  # the first numbers must be equal\ndataset = tf.data.Dataset.from_tensor_slices((x, y[:len(x)]))     # several inputs: ((a, b), y), not [a, b, y]",
            "ValueError: Dimensions 100 and 90 are not compatible",
        ),
    ),
}
