"""The child process: compiles one lowered program for a TPU that is not there.

`python child.py PROGRAM.mlir TOPOLOGY REPLICAS CHIP_CONFIG ANSWER_FOLDER`, with any Python that has
jax and libtpu: it imports nothing of tpudiag, and never TensorFlow. It leaves ANSWER_FOLDER/
answer.json, and optimised.hlo where the program compiled and can be printed. With `-` for the
program it loads the compiler, and then waits for a line with the program's path.
`python child.py --stablehlo MODULE.hlo PROGRAM.mlir` converts what an older TensorFlow gives.

The compile call is private to jaxlib: tried with jax 0.10.2 and libtpu 0.0.51. There is no public
one for a program that is text already; jax.jit compiles only what it traced itself.
"""

import contextlib
import ctypes
import json
import math
import os
import re
import signal
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

PR_SET_PDEATHSIG = 1
CONVERT = "--stablehlo"
LATER = "-"
ERROR_CHARACTERS = 40_000
MEMORY = {
    "argument_bytes": "argument_size_in_bytes",
    "output_bytes": "output_size_in_bytes",
    "alias_bytes": "alias_size_in_bytes",
    "temporary_bytes": "temp_size_in_bytes",
    "code_bytes": "generated_code_size_in_bytes",
}
QUIET = {
    "ALLOW_MULTIPLE_LIBTPU_LOAD": "1",
    "JAX_PLATFORMS": "cpu",
    "TPU_ACCELERATOR_TYPE": "v5litepod-8",
    "TPU_LOG_DIR": "disabled",
    "TPU_SKIP_MDS_QUERY": "1",
    "TPU_WORKER_HOSTNAMES": "localhost",
    "TPU_WORKER_ID": "0",
}
"""Keeps libtpu from looking for the machine's TPU, its metadata server and other processes."""


_PARTS = re.compile(r"^module @jit[^\n]*mhlo\.num_partitions = (?P<count>\d+)", re.MULTILINE)
"""Of a program made by jax.jit: one for all devices, partitioned by its shardings."""
_TRUTHS = re.compile(r'dense<"0x(?P<hex>[0-9A-F]+)"> : tensor<(?P<sizes>(?:\d+x)+)i1>')
"""A boolean constant, such as a decoder's mask."""
_SUM = re.compile(
    r"stablehlo\.custom_call @tpudiag\.all_reduce\.(?P<replicas>\d+)\((?P<operand>%[\w#]+)\).*?"
    r"\s: \(tensor<(?P<tensor>[^<>]+)>\) -> tensor<[^<>]+>",
    re.DOTALL,
)


def compile_program(program: str, topology: str, replicas: int, chip_config: str) -> Any:
    """The executable of a StableHLO program for the first devices of a topology."""
    import numpy as np

    topologies: Any = import_module("jax.experimental.topologies")
    mlir: Any = import_module("jax._src.interpreters.mlir")
    xla_client: Any = import_module("jaxlib.xla_client")
    options: dict[str, Any] = {"chip_config_name": chip_config} if chip_config else {}
    slice_ = topologies.get_topology_desc(topology, "tpu", **options)
    text = Path(_named(program)).read_text(encoding="utf-8")
    parted = _PARTS.search(text)
    partitions = int(parted["count"]) if parted else 1
    together = partitions if parted else replicas
    devices: list[Any] = list(slice_.devices)[:together]
    if len(devices) < together:
        raise ValueError(f"{topology} has {len(slice_.devices)} devices, not {together}")
    settings: Any = xla_client.CompileOptions()
    settings.num_replicas, settings.num_partitions = together // partitions, partitions
    if parted:
        build = settings.executable_build_options
        build.use_spmd_partitioning = True
        build.use_shardy_partitioner = "sdy." in text
    ids = np.array([device.id for device in devices]).reshape(-1, partitions)
    settings.device_assignment = xla_client.DeviceAssignment.create(ids)
    with mlir.make_ir_context() as context:
        return devices[0].client.compile(
            _parse(context, text),
            executable_devices=xla_client.DeviceList(tuple(devices)),
            compile_options=settings,
        )


def _named(program: str) -> str:
    """The path of the program, possibly sent later; the child ends without one."""
    if program != LATER:
        return program
    path = sys.stdin.readline().rstrip("\n")
    if not path:
        os._exit(0)
    return path


def _parse(context: Any, text: str) -> Any:
    """The module as TensorFlow lowers it for the TPU, where its lowering for the CPU differs."""
    ir: Any = import_module("jaxlib.mlir.ir")
    # jaxlib does not register mhlo, and editing the text by expressions could hit names or strings.
    context.allow_unregistered_dialects = True
    try:
        module: Any = ir.Module.parse(text)
    except ir.MLIRError as error:
        if "hex data size" not in str(error):
            raise
        module = ir.Module.parse(_TRUTHS.sub(_in_bytes, text))
    copies: list[Any] = []
    generators: list[Any] = []

    def visit(operation: Any) -> Any:
        if operation.name == "mhlo.copy":
            copies.append(operation)
        if operation.name == "stablehlo.rng_bit_generator":
            generators.append(operation)
        return ir.WalkResult.ADVANCE

    module.operation.walk(visit)
    for copy in copies:  # an identity, which the TPU compiler refuses
        copy.result.replace_all_uses_with(copy.operands[0])
        copy.erase()
    for generator in generators:
        _use_own_bits(ir, generator)
    return module


def _in_bytes(constant: re.Match[str]) -> str:
    """A boolean constant with a byte per element, as in MLIR of 2026, instead of a bit."""
    sizes = [int(size) for size in constant["sizes"].split("x") if size]
    count, packed = math.prod(sizes), bytes.fromhex(constant["hex"])
    if len(packed) != -(-count // 8):
        return constant[0]
    whole = bytes(packed[each >> 3] >> (each & 7) & 1 for each in range(count))
    return f'dense<"0x{whole.hex().upper()}"> : tensor<{constant["sizes"]}i1>'


def _use_own_bits(ir: Any, generator: Any) -> None:
    """Replace Philox by the TPU's own random bit generator.

    TensorFlow uses Philox only for CPUs and GPUs
    (tensorflow/compiler/tf2xla/kernels/stateless_random_ops.cc), and on a TPU it would be computed
    step by step: dropout would cost many times as much.
    """
    stablehlo: Any = import_module("jaxlib.mlir.dialects.stablehlo")
    state, (next_state, bits) = generator.operands[0], generator.results
    words = ir.RankedTensorType(state.type).shape[0]
    if "PHILOX" not in str(generator.attributes["rng_algorithm"]):
        return

    def part(of: Any, first: int, end: int) -> Any:
        return stablehlo.slice(of, *[ir.DenseI64ArrayAttr.get([each]) for each in (first, end, 1)])

    with ir.InsertionPoint(generator), generator.location:
        # Its state is two words; Philox may have a third, which only Philox reads.
        own = part(state, 0, 2) if words > 2 else state
        algorithm = ir.Attribute.parse("#stablehlo<rng_algorithm DEFAULT>")
        made = stablehlo.RngBitGeneratorOp(own.type, bits.type, algorithm, own)
        given, drawn = made.results
        if words > 2:
            zero = ir.IntegerAttr.get(ir.IntegerType.get_signless(64), 0)
            given = stablehlo.concatenate([given, part(state, 2, words)], zero)
    next_state.replace_all_uses_with(given)
    bits.replace_all_uses_with(drawn)
    generator.erase()


def stablehlo_of(serialised: bytes) -> str:
    """The StableHLO text of an HLO module, with the names of its operations."""
    jaxlib: Any = import_module("jaxlib._jax")
    mlir: Any = import_module("jax._src.interpreters.mlir")
    ir: Any = import_module("jaxlib.mlir.ir")
    module = jaxlib.mlir.hlo_to_stablehlo(serialised)
    with mlir.make_ir_context() as context:
        context.allow_unregistered_dialects = True
        text: str = ir.Module.parse(module).operation.get_asm(enable_debug_info=True)
    return with_sums(text)


def with_sums(program: str) -> str:
    """A program of an older TensorFlow, with its placeholders for sums over replicas filled in."""
    return _SUM.sub(_summed, program)


def _summed(place: re.Match[str]) -> str:
    operand, tensor, replicas = place["operand"], place["tensor"], int(place["replicas"])
    scalar = f"tensor<{tensor.rpartition('x')[2]}>"
    return f"""\
"stablehlo.all_reduce"({operand}) <{{
  replica_groups = dense<{[list(range(replicas))]}> : tensor<1x{replicas}xi64>
}}> ({{
^bb0(%one: {scalar}, %other: {scalar}):
  %sum = stablehlo.add %one, %other : {scalar}
  stablehlo.return %sum : {scalar}
}}) : (tensor<{tensor}>) -> tensor<{tensor}>"""


def answer(program: str, topology: str, replicas: int, chip_config: str, folder: Path) -> None:
    """Compile, and write the result into the folder."""
    try:
        executable = compile_program(program, topology, replicas, chip_config)
    except Exception as error:
        figures: dict[str, Any] = {"error": f"{type(error).__name__}: {error}"[:ERROR_CHARACTERS]}
    else:
        stats = executable.get_compiled_memory_stats()
        amounts = {name: getattr(stats, field, None) or 0 for name, field in MEMORY.items()}
        # Nothing else from it: its optimal_seconds was negative for whole programs.
        amounts["flops"] = executable.cost_analysis().get("flops") or 0.0
        figures = {"amounts": amounts}
        with contextlib.suppress(Exception):  # from a newer libtpu than this jaxlib can read
            text = executable.hlo_modules()[0].to_string()
            (folder / "optimised.hlo").write_text(text, encoding="utf-8")
    # Renamed, so that a killed child leaves no partial answer.
    temporary = folder / "answer.tmp"
    temporary.write_text(json.dumps(figures), encoding="utf-8")
    temporary.replace(folder / "answer.json")


def main() -> None:
    """Compile the program of the command line."""
    with contextlib.suppress(OSError, AttributeError):
        # Linux: a compilation of minutes must not continue when its parent was killed.
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    # Before importing jax: libtpu reads them at load time.
    os.environ.update(QUIET)
    if sys.argv[1] == CONVERT:
        Path(sys.argv[3]).write_text(stablehlo_of(Path(sys.argv[2]).read_bytes()), encoding="utf-8")
        os._exit(0)
    program, topology, replicas, chip_config, folder = sys.argv[1:6]
    answer(program, topology, int(replicas), chip_config, Path(folder))
    os._exit(0)  # libtpu's own exit takes seconds and may abort


if __name__ == "__main__":
    main()
