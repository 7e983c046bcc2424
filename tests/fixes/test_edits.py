from tpudiag.fixes import edits
from tpudiag.fixes.edits import Edit

TEXT = "one\ntwo\nthree\n"


def test_edits_are_made_once_each_in_their_order() -> None:
    made = [Edit(4, 7, "2"), Edit(0, 0, "zero\n"), Edit(4, 7, "2"), Edit(14, 14, "four\n")]
    assert edits.applied(TEXT, made) == "zero\none\n2\nthree\nfour\n"


def test_edits_of_the_same_characters_are_in_conflict() -> None:
    assert edits.conflict([Edit(0, 3, "a")], [Edit(2, 5, "b")])
    assert edits.conflict([Edit(1, 1, "a")], [Edit(0, 3, "b")])
    assert not edits.conflict([Edit(3, 3, "a")], [Edit(3, 3, "b")])
    assert not edits.conflict([Edit(0, 3, "a")], [Edit(3, 3, "b")])
    assert not edits.conflict([Edit(0, 3, "a")], [Edit(0, 3, "a")])


def test_lines_move_with_what_is_put_before_them() -> None:
    made = [Edit(0, 0, "zero\n"), Edit(14, 14, "four\n"), Edit(4, 8, "")]
    assert [edits.line_after(TEXT, made, line) for line in (1, 2, 3)] == [2, 3, 3]


def test_a_form_feed_ends_no_line() -> None:
    assert edits.line_starts("a\x0cb\r\nc\rd\n") == [0, 5, 7, 9]


def test_a_patch_keeps_line_ends() -> None:
    patch = edits.unified("t.py", "a\r\nb\r\n", "a\r\nc\r\n")
    assert patch == "--- a/t.py\n+++ b/t.py\n@@ -1,2 +1,2 @@\n a\r\n-b\r\n+c\r\n"
    assert edits.unified("t.py", "a", "b").endswith(
        "-a\n\\ No newline at end of file\n+b\n\\ No newline at end of file\n"
    )
