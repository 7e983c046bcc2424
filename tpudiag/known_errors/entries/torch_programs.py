# ruff: noqa: E501  (texts of other programs stay as they are)
"""Programs in PyTorch, on a TPU or not: shapes, types, gradients, weights and processes."""

from __future__ import annotations

from tpudiag.known_errors.model import KnownError, Phase

ERRORS = (
    KnownError(
        id="E640",
        family="shape-conflict",
        phase=Phase.BUILDING,
        patterns=(
            r"Sizes of tensors must match except in dimension \d",
            r"The size of tensor a \((?P<left>\d{1,9})\) must match the size of tensor b \((?P<right>\d{1,9})\)",
            r"mat1 and mat2 shapes cannot be multiplied \((?P<left>[\dx]{3,24}) and (?P<right>[\dx]{3,24})\)",
            r"stack expects each tensor to be equal size",
            r"shape '\[[\d, -]{1,60}\]' is invalid for input of size",
            r"Given groups=\d{1,4}, weight of size \[[\d, ]{1,40}\], expected input",
            r"Given groups=\d{1,4}, expected weight to be",
            r"Expected input batch_size \((?P<left>\d{1,9})\) to match target batch_size \((?P<right>\d{1,9})\)",
            r"Target size \(torch\.Size\(.{1,60}?must be the same as input size",
            r"The expanded size of the tensor \(\d{1,9}\) must match the existing size",
            r"Expected \dD .{0,40}?or \dD .{0,40}?input to \w{2,20}, but got input of size",
            r"The shape of the mask \[[\d, ]{1,40}\] at index \d{1,3} does not match",
            r"Dimension out of range \(expected to be in range of",
            r"batch1 tensor.{0,60}?expected (?:size|batch)",
            r"expand\(torch\.\w{4,24}Tensor\{",
        ),
        cause="PyTorch: two tensors that meet have sizes that do not fit: examples of different lengths or sizes in one batch, a last batch that is smaller, an image with another number of channels, labels of another form than the outputs, a layer made for another width.",
        details=("The sizes are {left} and {right}.",),
        fix="""\
print(x.shape, y.shape)                                            # before the line that the traceback names
loader = DataLoader(dataset, batch_size=N, drop_last=True)         # the last, smaller batch; on a TPU each new size is also compiled anew
image = Image.open(path).convert("RGB")                            # each image with three channels, then Resize((224, 224))
batch = torch.nn.utils.rnn.pad_sequence(sequences, batch_first=True)      # collate_fn: examples of different lengths; on a TPU to one fixed length""",
        citations=("sktime/pytorch-forecasting#1810",),
        example="RuntimeError: Sizes of tensors must match except in dimension 1. Expected size 7 but got size 2 for tensor number 4 in the list.",
        yields_to=("E735",),
    ),
    KnownError(
        id="E641",
        family="types-do-not-match",
        phase=Phase.BUILDING,
        patterns=(
            r"expected scalar type (?P<wanted>\w{3,12}) but found (?P<found>\w{3,12})",
            r"Input type \((?P<found>[\w.]{3,30})\) and (?:weight|bias) type \((?P<wanted>[\w.]{3,30})\) should be the same",
            r"Found dtype (?P<found>\w{3,12}) but expected (?P<wanted>\w{3,12})",
            r"expected mat1 and mat2 to have the same dtype",
            r"expected m1 and m2 to have the same dtype",
            r"result type (?P<found>\w{3,12}) can't be cast to the desired output type (?P<wanted>\w{3,12})",
            r"Index put requires the source and destination dtypes match",
            r"expected .{0,40}?to have the same dtype, but got",
        ),
        cause="PyTorch: two tensors of different types (or on different devices) meet: float64 from NumPy, bfloat16 weights and float32 inputs, integer labels where floats are wanted, or inputs that were not moved to the TPU with the model.",
        details=("{wanted} was expected, {found} found.",),
        fix="""\
x = x.to(device=model.device, dtype=next(model.parameters()).dtype)       # inputs where the weights are, of their type
x = torch.as_tensor(array, dtype=torch.float32)                            # NumPy gives float64
with torch.autocast("xla", dtype=torch.bfloat16): loss = model(x)          # mixed precision on a TPU, in place of model.half()
labels = labels.float()                                                    # BCEWithLogitsLoss, MSELoss; .long() for CrossEntropyLoss""",
        evidence="recalled",
        example="RuntimeError: expected scalar type Float but found BFloat16",
        yields_to=("E503", "E220", "E221"),
    ),
    KnownError(
        id="E642",
        family="gradient-tape",
        phase=Phase.EXECUTING,
        patterns=(
            r"element \d{1,4} of tensors does not require grad and does not have a grad_fn",
            r"variables needed for gradient computation has been modified by an inplace operation",
            r"Trying to backward through the graph a second time",
            r"grad can be implicitly created only for scalar outputs",
            r"a (?:view of a )?leaf Variable that requires grad .{0,40}?in-place operation",
            r"One of the differentiated Tensors (?:appears to not have been used|does not require grad)",
            r"Can't call numpy\(\) on Tensor that requires grad",
        ),
        cause="PyTorch cannot follow the gradients: the loss was computed without them (no_grad, detach, frozen weights, .item()), a tensor that the backward pass needs was changed in place, backward runs twice over one graph (a state kept from the step before), or the loss is no single number.",
        fix="""\
loss = criterion(model(x), y).mean(); optimizer.zero_grad(); loss.backward()     # one number, one backward for each forward
hidden = tuple(h.detach() for h in hidden)                        # a state that goes on to the next step, cut off from it
x = x + 1                                                          # in place of x += 1, x[...] = 1, nn.ReLU(inplace=True)
print([n for n, p in model.named_parameters() if p.requires_grad][:5])      # is anything left to train? gradient checkpointing: model.enable_input_require_grads()
torch.autograd.set_detect_anomaly(True)                            # names the operation; the loss alone in logs: loss.detach()""",
        evidence="recalled",
        example="RuntimeError: element 0 of tensors does not require grad and does not have a grad_fn",
    ),
    KnownError(
        id="E643",
        family="checkpoint-mismatch",
        phase=Phase.SAVING,
        patterns=(
            r"Error\(?s?\)? in loading state_dict for (?P<model>\w{1,60})",
            r"(?:Missing|Unexpected) key\(s\) in state_dict",
            r"size mismatch for [\w.]{1,120}: copying a param with shape",
            r"PytorchStreamReader failed",
            r"Weights only load failed",
            r"Attempting to deserialize object on a CUDA device but",
            r"loaded state dict (?:has a different number of parameter groups|contains a parameter group)",
        ),
        cause="PyTorch: the file of weights does not fit: it is of another model or number of classes, its names begin with `module.` or `_orig_mod.` (saved from a wrapped model), it was saved on another device, it is cut off, or holds more than weights.",
        details=("The model is {model}.",),
        fix="""\
state = torch.load("model.pt", map_location="cpu")                          # saved on a GPU or TPU: first to the CPU
state = {k.removeprefix("module.").removeprefix("_orig_mod."): v for k, v in state.items()}
print(model.load_state_dict(state, strict=False))                           # which names are missing, which too many
model = AutoModel.from_pretrained(NAME, num_labels=N, ignore_mismatched_sizes=True)      # another number of classes: a new head
torch.load("model.pt", weights_only=False)                                  # a file of your own that holds whole objects; ls -l: is it whole?""",
        evidence="recalled",
        example='RuntimeError: Error(s) in loading state_dict for Net: Missing key(s) in state_dict: "fc.weight".',
    ),
    KnownError(
        id="E644",
        family="torch-processes",
        phase=Phase.INITIALISING,
        patterns=(
            r"attempt has been made to start a new process before the current process has finished its bootstrapping",
            r"Cannot re-initialize CUDA in forked subprocess",
            r"daemonic processes are not allowed to have children",
            r"context has already been set",
            r"Default process group has not been initialized",
            r"Can't pickle local object '?(?P<object>[\w.<>]{1,80})",
            r"Can't get attribute '(?P<object>\w{1,60})' on <module '__main__'",
        ),
        cause="Processes are started in a way that Python or PyTorch does not take: from a script without its `__main__` guard, with a function or dataset that cannot be pickled (a lambda, a class of a notebook), twice, or from a process that already used the device.",
        details=("It is {object}.",),
        fix="""\
if __name__ == "__main__":                                 # everything that starts processes stands under it
    torch_xla.launch(train)                                # train: a function at the top of a file, no lambda, no inner function
# notebook: put the functions and the dataset into a file and import it; torch_xla.launch(train, start_method="fork")
# nothing touches the device (no xla_device(), no tensor on it) before the launch; DataLoader(num_workers=0) to look for the place
import torch.distributed as dist; dist.init_process_group("xla", init_method="xla://")      # before the first collective""",
        evidence="recalled",
        example="RuntimeError: An attempt has been made to start a new process before the current process has finished its bootstrapping phase.",
        yields_to=("E206",),
    ),
    KnownError(
        id="E648",
        family="trainer-arguments",
        phase=Phase.BUILDING,
        patterns=(
            r"train_dataset does not implement __len__, max_steps has to be specified",
            r"You have set `args\.eval(?:uation)?_strategy` to",
            r"The model did not return a loss from the inputs",
            r"No columns in the dataset match the model's forward method",
            r"cannot be used as is for training: it only computes hidden states",
            r"The batch received was empty, your model won't be able to train",
            r"Trainer: (?:training requires a train|evaluation requires an eval)_dataset",
            r"--load_best_model_at_end requires the",
            r"requires either non-zero --eval_steps",
            r"At most one of fp16 and bf16 can be True",
            r"Your setup doesn't support bf16",
            r"FP16 Mixed precision training with AMP.{0,80}?can only be used on CUDA",
            r"fp16 mixed precision requires a GPU",
            r"Trainer failed to import syncfree AdamW",
            r"`?Trainer`? requires either a `?model`? or `?model_init",
            r"max_steps must be set to a positive value if dataloader",
        ),
        cause="The Trainer of Transformers does not get what it needs: labels in the examples (or a model with a head), a data set for evaluation, a number of steps where the data have no length, matching intervals for saving and evaluating, or a number type that this device has (a TPU: bf16, not fp16).",
        fix="""\
model = AutoModelForSequenceClassification.from_pretrained(NAME, num_labels=N)       # a head; AutoModel alone gives no loss
dataset = dataset.rename_column("label", "labels"); print(dataset.column_names)      # what the forward pass takes: input_ids, attention_mask, labels
args = TrainingArguments(OUT, bf16=True, max_steps=10_000, eval_strategy="steps", eval_steps=500, save_steps=500, remove_unused_columns=False)
trainer = Trainer(model, args, train_dataset=train, eval_dataset=valid)""",
        evidence="recalled",
        example="ValueError: The model did not return a loss from the inputs, only the following keys: last_hidden_state.",
    ),
    KnownError(
        id="E686",
        family="torch-process-group",
        phase=Phase.INITIALISING,
        patterns=(
            r"Timed out initializing process group in store based barrier on rank: (?P<rank>\d{1,5}).{0,80}?world_size=(?P<wanted>\d{1,5}), worker_count=(?P<got>\d{1,5})",
            r"Timed out initializing process group",
            r"The client socket has (?:timed out|failed to connect)",
            r"DistNetworkError",
            r"DistStoreError",
            r"The server socket has failed to (?:listen|bind)",
            r"ProcessGroup(?:Gloo|NCCL|MPI)\w{0,10}.{0,120}?(?:timeout|timed out|error|failed)",
        ),
        cause="PyTorch's own process group (torch.distributed, on CPUs or GPUs; no TPU is in it) did not come together: another number of processes than world_size was started, an address or port that the others cannot reach, or processes of an earlier run that still hold it.",
        details=("Rank {rank} waited for {wanted} processes; {got} came.",),
        fix="""\
pgrep -af python; kill PID                                       # left-overs of an earlier run count as workers
torchrun --nnodes=HOSTS --nproc_per_node=N --rdzv_backend=c10d --rdzv_endpoint=FIRST_HOST:29500 train.py      # starts as many as it says
export MASTER_ADDR=FIRST_HOST MASTER_PORT=29501                  # an address that all hosts reach, a free port
torch_xla.launch(fn)                                             # on a TPU: init_process_group("xla", init_method="xla://")""",
        citations=("tczhangzhi/pytorch-distributed#18",),
        example="RuntimeError: Timed out initializing process group in store based barrier on rank: 2, for key: store_based_barrier_key:1 (world_size=2, worker_count=4, timeout=0:30:00)",
    ),
    KnownError(
        id="E773",
        family="spawned-function",
        phase=Phase.INITIALISING,
        patterns=(
            r"has no attribute '?_mp_fn",
            r"xmp\.spawn\(.{0,200}?(?:AttributeError|TypeError|PicklingError|can't pickle)",
            r"_mp_fn\(\) (?:takes|missing)",
        ),
        cause="xla_spawn.py (and xmp.spawn) start one process for each TPU core, which calls the function _mp_fn(index) of the script that they were given: the script has none, a folder or another module of that name was given, or the function takes other arguments.",
        fix="""\
python xla_spawn.py --num_cores=8 PATH/run_mlm.py --dataset_name ...      # the script itself, with .py; its arguments behind it
def _mp_fn(index): main()                                                # at the end of that script, at its top level
python run_mlm.py ...                                                    # without a TPU: no xla_spawn.py""",
        citations=("coastalcph/hierarchical-transformers#8",),
        example="AttributeError: module 'language_modelling' has no attribute '_mp_fn'",
    ),
)
