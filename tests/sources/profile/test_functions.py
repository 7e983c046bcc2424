"""Calls of tf.functions in a trace."""

from tpudiag.sources.profile.functions import Call, functions, outermost, tracing


def call(
    name: str, start: int, end: int, *, traced: bool = False, traces: int | None = None
) -> Call:
    return Call(name, "python", start, end, traced, traces)


def test_calls_inside_others_are_left_out() -> None:
    outer, inner, later = call("step", 0, 100), call("loss", 10, 50), call("step", 100, 120)
    elsewhere = call("read", 20, 40)._replace(thread="tf_data")
    assert outermost([outer, inner, elsewhere, later]) == [outer, elsewhere, later]


def test_a_first_trace_is_no_retrace() -> None:
    made = functions(
        [
            call("train_step", 0, 10**9, traced=True, traces=1),
            call("train_step", 2 * 10**9, 5 * 10**9, traced=True, traces=2),
            call("train_step", 6 * 10**9, 7 * 10**9),
            call("predict", 8 * 10**9, 9 * 10**9, traced=True),
        ]
    )
    assert [function.name for function in made] == ["train_step", "predict"]
    train, predict = made
    assert (train.calls, train.traces, train.trains) == (3, 2, True)
    assert [(again.call, again.took_ms) for again in train.retraces] == [(1, 3.0)]
    assert not predict.trains
    assert len(predict.retraces) == 1, "of one whose count is not told, the worse is taken"


def test_the_time_in_which_functions_were_traced() -> None:
    spans = tracing([call("a", 0, 10, traced=True), call("b", 5, 20, traced=True), call("c", 0, 9)])
    assert spans.total == 20
    assert not tracing([])
