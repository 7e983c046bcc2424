"""What a host's events mean, by names that captures hold."""

import pytest

from tpudiag.sources.profile.host_roles import Role, drives_tpu, role_of


@pytest.mark.parametrize(
    ("name", "role"),
    [
        ("IteratorGetNextOp::DoCompute", Role.GET_NEXT),
        ("EagerLocalExecute: IteratorGetNext", Role.ASK),
        ("Iterator::Root::Prefetch::Map", Role.ITERATOR),
        ("XlaCompileOp", Role.COMPILE),
        ("tf.function-graph_building", Role.COMPILE),
        ("tpu::System::TransferToDevice", Role.TO_DEVICE),
        ("CollectiveReduceV2:CollectiveReduceV2", Role.COLLECTIVE),
        ("PyFunc:EagerPyFunc", Role.CALLBACK),
        ("EagerLocalExecute: Mul", Role.EAGER),
        ("EagerLocalExecute: __inference_train_step_12", Role.OTHER),
        ("PjitFunction(train_step)", Role.JIT),
        ("recompiled_by_hand", Role.OTHER),
    ],
)
def test_a_name_has_one_role(name: str, role: Role) -> None:
    assert role_of(name, None) is role


def test_the_name_that_was_asked_for_is_a_span_whatever_else_it_is() -> None:
    assert role_of("EagerLocalExecute: Mul", "EagerLocalExecute: Mul") is Role.SPAN


def test_compiling_for_a_tpu_is_no_sign_of_driving_one() -> None:
    assert not drives_tpu(["TpuCompileOp", "XLA::TPU code generation"])
    assert drives_tpu(["TpuCompileOp", "tpu::System::Execute"])
