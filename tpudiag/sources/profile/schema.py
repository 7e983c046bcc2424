"""Messages of protobuf that are read and written here, built at run time.

XSpace: openxla/xla, tsl/profiler/protobuf/xplane.proto, whole; of the others the fields of use, by
the same repository (hlo.proto, xla_data.proto, profiler_service.proto, profiler_options.proto),
TensorFlow's event.proto, summary.proto and tensor.proto, and
AI-Hypercomputer/cloud-accelerator-diagnostics, tpu_info/proto/tpu_metric_service.proto.

They live in a descriptor pool of their own: TensorFlow and JAX register the same names in the
default pool, and TensorFlow's classes would cost its import of five seconds.
"""

from collections.abc import Generator
from contextlib import contextmanager
from functools import cache
from typing import Any

from google.protobuf import descriptor_pool, message_factory
from google.protobuf.descriptor_pb2 import FieldDescriptorProto, FileDescriptorProto
from google.protobuf.message import DecodeError

from tpudiag.sources.profile.wire import Damaged

_PACKAGE = "tensorflow.profiler"
_KINDS = {"double": 1, "float": 2, "int64": 3, "uint64": 4, "string": 9, "bytes": 12}
"""FieldDescriptorProto.Type."""
_MESSAGES = {
    "XSpace": "*XPlane planes 1, *string errors 2, *string warnings 3, *string hostnames 4",
    "XPlane": "int64 id 1, string name 2, *XLine lines 3, %XEventMetadata event_metadata 4,"
    " %XStatMetadata stat_metadata 5, *XStat stats 6",
    "XLine": "int64 id 1, int64 display_id 10, string name 2, string display_name 11,"
    " int64 timestamp_ns 3, int64 duration_ps 9, *XEvent events 4",
    "XEvent": "int64 metadata_id 1, ?int64 offset_ps 2, ?int64 num_occurrences 5,"
    " int64 duration_ps 3, *XStat stats 4",
    "XStat": "int64 metadata_id 1, ?double double_value 2, ?uint64 uint64_value 3,"
    " ?int64 int64_value 4, ?string str_value 5, ?bytes bytes_value 6, ?uint64 ref_value 7,"
    " ?bytes compressed_str_value 8",
    "XEventMetadata": "int64 id 1, string name 2, string display_name 4, bytes metadata 3,"
    " *XStat stats 5, *int64 child_id 6",
    "XStatMetadata": "int64 id 1, string name 2, string description 3",
    "CoreDetails": "int64 local_chip_id 4, int64 global_chip_id 5",
    "MemoryAccessBreakdown": "*MemoryAccessed memory_accessed 1",
    "MemoryAccessed": "int64 operation_type 1, int64 memory_space 2, int64 bytes_accessed 3",
    "HloProto": "HloModuleProto hlo_module 1",
    "HloModuleProto": "*HloComputationProto computations 3,"
    " DeviceAssignmentProto device_assignment 15",
    "DeviceAssignmentProto": "int64 replica_count 1, int64 computation_count 2",
    "HloComputationProto": "*HloInstructionProto instructions 2",
    "HloInstructionProto": "string name 1, string opcode 2, ShapeProto shape 3,"
    " OpMetadata metadata 7, ConvolutionDimensionNumbers convolution_dimension_numbers 16,"
    " DotDimensionNumbers dot_dimension_numbers 30, int64 id 35, *int64 operand_ids 36,"
    " string backend_config 43",
    "ShapeProto": "int64 element_type 2, *int64 dimensions 3",
    "OpMetadata": "string op_name 2, string source_file 3, int64 source_line 4",
    "ConvolutionDimensionNumbers": "int64 kernel_output_feature_dimension 4",
    "DotDimensionNumbers": "*int64 lhs_contracting_dimensions 1, *int64 lhs_batch_dimensions 3",
    "Event": "double wall_time 1, int64 step 2, string file_version 3, Summary summary 5",
    "Summary": "*Value value 1",
    "Value": "bytes tag 1, ?float simple_value 2, ?TensorProto tensor 8,"
    " SummaryMetadata metadata 9",
    "SummaryMetadata": "PluginData plugin_data 1, int64 data_class 4",
    "PluginData": "string plugin_name 1",
    "TensorProto": "int64 dtype 1, TensorShapeProto tensor_shape 2, bytes tensor_content 4,"
    " *float float_val 5, *bytes string_val 8",
    "TensorShapeProto": "int64 unknown_rank 3",
    "ProfileRequest": "int64 duration_ms 1, ProfileOptions opts 4, string repository_root 5,"
    " string session_id 6, string host_name 7, int64 emit_xspace 9",
    "ProfileOptions": "int64 include_dataset_ops 1, int64 host_tracer_level 2,"
    " int64 device_tracer_level 3, int64 version 5, int64 enable_hlo_proto 7, int64 duration_ms 9",
    "ProfileResponse": "bytes xspace 8",
    "TerminateRequest": "string session_id 1",
    "MetricRequest": "string metric_name 1",
    "MetricResponse": "TPUMetric metric 1",
    "TPUMetric": "string name 1, *Metric metrics 3",
    "Metric": "Attribute attribute 1, Gauge gauge 3",
    "Attribute": "string key 1, AttrValue value 2",
    "AttrValue": "int64 int_attr 3",
    "Gauge": "?double as_double 1, ?int64 as_int 2",
}
"""Fields as `type name number`: * repeated, ? in the message's one oneof, % map from int64."""
ONEOFS = {"XEvent": "data", "XStat": "value", "Gauge": "value", "Value": "value"}


@cache
def message(name: str) -> Any:
    """The class of the message with this name, e.g. `XSpace`."""
    return message_factory.GetMessageClass(_pool().FindMessageTypeByName(f"{_PACKAGE}.{name}"))


def parsed(name: str, data: bytes | memoryview) -> Any:
    """The message of this name in some bytes; raises Damaged."""
    made = message(name)()
    with decoding(f"no {name}"):
        made.ParseFromString(bytes(data))
    return made


@contextmanager
def decoding(fault: str) -> Generator[None]:
    """Raises Damaged where the bytes are no message, or their text is none."""
    try:
        yield
    except (DecodeError, UnicodeDecodeError) as error:
        raise Damaged(f"corrupt: {fault}") from error


@cache
def _pool() -> descriptor_pool.DescriptorPool:
    file = FileDescriptorProto(name="tpudiag/messages.proto", package=_PACKAGE, syntax="proto3")
    for name, text in _MESSAGES.items():
        made = file.message_type.add(name=name)
        if name in ONEOFS:
            made.oneof_decl.add(name=ONEOFS[name])
        for part in text.split(","):
            marked, field, number_text = part.split()
            mark = marked[0] if marked[0] in "*?%" else ""
            own = kind = marked.removeprefix(mark)
            number = int(number_text)
            if mark == "%":
                entry = "".join(word.title() for word in field.split("_")) + "Entry"
                pair = made.nested_type.add(name=entry)
                pair.options.map_entry = True
                pair.field.append(_field("", "int64", "key", 1))
                pair.field.append(_field("", kind, "value", 2))
                own = f"{name}.{entry}"
            made.field.append(_field(mark, own, field, number))
    pool = descriptor_pool.DescriptorPool()
    pool.AddSerializedFile(file.SerializeToString())
    return pool


def _field(mark: str, kind: str, name: str, number: int) -> FieldDescriptorProto:
    made = FieldDescriptorProto(name=name, number=number)
    made.label = made.LABEL_REPEATED if mark in ("*", "%") else made.LABEL_OPTIONAL
    made.type = _KINDS.get(kind, made.TYPE_MESSAGE)  # type: ignore[assignment]
    if kind not in _KINDS:
        made.type_name = f".{_PACKAGE}.{kind}"
    if mark == "?":
        made.oneof_index = 0
    return made
