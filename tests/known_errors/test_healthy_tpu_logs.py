"""What a TPU's runtimes say on their way in a job that goes well: none of it is an error."""

import pytest

from tpudiag.known_errors.search import match

ESTIMATOR = """\
W0504 13:26:39.572035 140559419672320 preempted_hook.py:91] TPUPollingThread found TPU b'mine' \
in state READY, and health HEALTHY.
INFO:tensorflow:ShutdownHook: no lame workers found
INFO:tensorflow:Configuring worker heartbeat: shutdown_mode: WAIT_FOR_COORDINATOR
INFO:tensorflow:Outfeed finished for iteration (1862, 53)
INFO:tensorflow:InfeedController received shutdown signal, stopping.
INFO:tensorflow:Deallocate TPU buffers before initializing tpu system.
"""
COMPILATION = """\
I tensorflow/core/tpu/kernels/tpu_compilation_cache_interface.cc:442] TPU host compilation cache \
miss: cache_key(7086181526061168380), session_name()
I tensorflow/core/tpu/kernels/tpu_compile_op_common.cc:245] Compilation of 7086181526061168380 \
with session name  took 4.708620071s and succeeded
I tensorflow/core/tpu/kernels/tpu_compilation_cache_interface.cc:542] After adding entry for key \
7086181526061168380 with session_name  cache is 1 entries (129 bytes),  marked for eviction 0
"""
LIBTPU = """\
I0000 pjrt_api.cc:146] The PJRT plugin has PJRT API version 0.46. The framework PJRT API version \
is 0.46.
I0000 coordination_service.cc:535] /job:jax_worker/replica:0/task:1 has connected to coordination \
service. Incarnation: 17767066468299283119
I0000 coordination_service.cc:600] Barrier(PjRT_Client_Connect) has passed with status: OK
I0000 tpu_network_factory.cc:67] tpunetd either not supported or disabled, falling back to Slice \
Builder
I0000 common_lib.cc:174] Failed to fetch URL on try 1 out of 6: Failed to fetch URL (http 404)
I0000 slice_builder_helper.cc:98] Current host is used as SliceBuilder master.
I0000 preemption_sync_manager.cc:100] Preemption sync barrier is ready
E0328 oauth2_credentials.cc:238] oauth_fetch: UNKNOWN:C-ares status is not ARES_SUCCESS qtype=A \
name=metadata.google.internal. is_balancer=0: Domain name not found
"""
CLUSTER = """\
I0000 coordination_service.h:529] /job:worker/replica:0/task:0 has connected to coordination \
service. Incarnation: 6563126
I0000 coordination_service.cc:502] Waiting for 1/2 tasks to connect.
I0000 coordination_service.cc:505] Example stragglers:
/job:worker/replica:0/task:1
I0000 coordination_service.h:529] /job:worker/replica:0/task:1 has connected to coordination \
service. Incarnation: 7063126
INFO:tensorflow:Waiting for the cluster, timeout = inf
INFO:tensorflow:Cluster is ready.
"""


@pytest.mark.parametrize("log", [ESTIMATOR, COMPILATION, LIBTPU])
def test_no_error_is_found(log: str) -> None:
    assert [each.error.id for each in match(log) if each.error.level != "info"] == []
    for line in log.splitlines():
        assert [each.error.id for each in match(line) if each.error.level != "info"] == []


def test_no_error_is_found_in_a_cluster_that_comes_up() -> None:
    assert [each.error.id for each in match(CLUSTER) if each.error.level != "info"] == []


def test_what_is_waited_for_in_vain_is_told() -> None:
    best = match("\n".join(CLUSTER.splitlines()[:4]))[0]
    assert best.error.id == "E826"
    assert "/job:worker/replica:0/task:1" in best.message
