"""A log that grows: errors are told once, when they come, and kept with what stands around."""

from tpudiag.known_errors.growing import LONGEST_CONTEXT, LONGEST_TAIL, GrowingLog

LINE = b"step 12, loss 0.25\n"
LOST = b"UnavailableError: Socket closed\n"


def test_error_is_told_once() -> None:
    log = GrowingLog()
    assert log.feed(LINE * 100) == ()
    assert [each.error.id for each in log.feed(LINE + LOST)] == ["E28"]
    assert log.feed(LINE + LOST) == ()


def test_error_that_comes_in_two_pieces_is_seen() -> None:
    log = GrowingLog()
    assert log.feed(LINE * 1000 + LOST[:20]) == ()
    assert [each.error.id for each in log.feed(LOST[20:].decode())] == ["E28"]


def test_noise_and_the_form_of_a_sentence_are_no_news() -> None:
    assert GrowingLog().feed("Local rendezvous is aborting with status: OUT_OF_RANGE") == ()
    assert GrowingLog().feed("ValueError: Only one of `rows` and `columns` can be given.\n") == ()


def test_early_error_and_its_support_are_kept_in_bounded_memory() -> None:
    log = GrowingLog()
    log.feed(b"dmesg: oom-kill of the worker\n" + LOST)
    for _ in range(200):
        log.feed(LINE * 1000)
    assert "oom-kill" in log.telling and "Socket closed" in log.telling
    assert len(log.telling) < LONGEST_TAIL + 2 * LONGEST_CONTEXT
