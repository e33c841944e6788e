"""Edits of texts: what is found, what replaces it, and what is said when nothing was."""

import pytest

from chatd.agent.edits.edit import Edit, EditRefused, edited


def refused(content: str, edit: Edit) -> str:
    with pytest.raises(EditRefused) as why:
        edited(content, edit)
    return str(why.value)


# Exactly


def test_a_text_that_is_there_once_is_replaced_wherever_it_is():
    assert edited("one two three", Edit("two", "2")) == "one 2 three"
    assert edited("a\nb\n", Edit("b\n", "")) == "a\n"
    assert edited("a\n", Edit("a", "b\nc")) == "b\nc\n"


def test_a_text_that_is_there_more_often_is_replaced_everywhere_or_not_at_all():
    assert "3 times" in refused("x x x", Edit("x", "y"))
    assert "2 times" in refused("aaa", Edit("aa", "b")), "they overlap"
    assert edited("x x x", Edit("x", "y", replace_all=True)) == "y y y"
    assert edited("aaa", Edit("aa", "b", replace_all=True)) == "ba"


def test_nothing_to_look_for_is_refused():
    assert "empty" in refused("x", Edit("", "y"))


def test_new_lines_end_as_the_lines_of_the_file_do():
    assert edited("a\r\nb\r\nc\r\n", Edit("b", "x\ny")) == "a\r\nx\r\ny\r\nc\r\n"
    assert edited("a\nb\r\nc\n", Edit("c", "x\r\ny")) == "a\nb\r\nx\ny\n", "most end with LF"
    assert edited("a", Edit("a", "x\r\ny")) == "x\r\ny", "none ends"
    assert edited("\ta", Edit("  a", "  x\r\n  y")) == "\tx\r\n\ty"


def test_who_changes_endings_gets_what_was_asked_for():
    assert edited("a\r\nb\r\n", Edit("a\r\nb\r\n", "a\nb\n")) == "a\nb\n"
    assert "not found" in refused("a \r\nb\r\n", Edit("a\r\nb\r\n", "a\nb\n")), "nothing is forgiven then"


# Blanks apart


def test_blanks_at_the_end_of_lines_are_forgiven_and_kept():
    assert edited("if x:  \n    y()\t\nz\n", Edit("if x:\n    y()", "if x:\n    w()")) == "if x:  \n    w()\t\nz\n"


def test_indentation_is_forgiven_and_the_files_own_is_kept():
    content = "class A:\n\tdef f(self):\n\t\treturn 1\n"
    edit = Edit("    def f(self):\n        return 1\n", "    def f(self):\n        return 2\n")

    assert edited(content, edit) == "class A:\n\tdef f(self):\n\t\treturn 2\n"


def test_new_lines_are_indented_in_the_files_unit():
    content = "def f():\n\tif x:\n\t\ta()\n\treturn\n"
    edit = Edit("  if x:\n    a()\n", "  if x:\n    a()\n    while y:\n      b()\n")

    assert edited(content, edit) == "def f():\n\tif x:\n\t\ta()\n\t\twhile y:\n\t\t\tb()\n\treturn\n"


def test_lines_that_move_to_another_level_do_so_in_the_files_unit():
    content = "def f():\n\ta()\n\tb()\n"
    edit = Edit("    a()\n    b()\n", "    if x:\n        a()\n    b()\n")

    assert edited(content, edit) == "def f():\n\tif x:\n\t\ta()\n\tb()\n"


def test_a_mixture_of_units_takes_the_indentation_of_its_neighbour():
    content = "\tx:\n        a()\n"
    edit = Edit("x:\n  a()", "x:\n  a()\n  b()")

    assert edited(content, edit) == "\tx:\n        a()\n        b()\n"


def test_lf_and_crlf_are_the_same_to_who_looks_for_lines():
    assert edited("a\r\nb\r\nc\r\n", Edit("a\nb\n", "a\nx\n")) == "a\r\nx\r\nc\r\n"
    assert edited("a\nb\nc\n", Edit("a\r\nb\r\n", "a\r\nx\r\n")) == "a\nx\nc\n"
    assert edited("a\r\nb\r\nc", Edit("b\nc", "b\nx\ny")) == "a\r\nb\r\nx\r\ny", "the end of the file stays as it is"


def test_what_follows_is_not_joined_to_the_last_line():
    assert edited("\ta\nb\n", Edit("  a\n", "  c")) == "\tc\nb\n"
    assert edited("\ta\n", Edit("  a", "  a\n  b")) == "\ta\n\tb\n"
    assert edited("x\n\ta", Edit("  a\n", "  c\n")) == "x\n\tc"


def test_lines_can_be_taken_out():
    assert edited("x\n\ta\n\tb\ny\n", Edit("  a\n  b\n", "")) == "x\ny\n"


def test_two_places_that_fit_when_blanks_are_forgiven_are_not_guessed_between():
    content = "\ta\n\tb\n  a\n  b\n"

    assert "2 times" in refused(content, Edit("    a\n    b\n", "    c\n"))
    assert edited(content, Edit("    a\n    b\n", "    c\n", replace_all=True)) == "\tc\n  c\n"


def test_the_stricter_comparison_wins():
    content = "  a  \n\ta\n"

    assert edited(content, Edit("  a\n", "  b\n")) == "  b  \n\ta\n"


def test_words_are_never_forgiven():
    assert "not found" in refused("return  x\n", Edit("return x", "return y"))


# What is said


def test_a_rule_that_was_miscounted_is_named():
    said = refused("# ======\nx\n# =====\n", Edit("# =======\nx", "y"))

    assert "Line 1, 3 of the file" in said
    assert "another number of times" in said


def test_an_edit_that_was_made_before_is_named():
    assert "at line 2" in refused("a\n  new text\n", Edit("old text", "new text"))
    assert "already" not in refused("a\n", Edit("old", " "))


def test_a_line_that_differs_in_more_than_one_run_is_no_miscount():
    assert "another number" not in refused("==--==\n", Edit("===---==", "x"))
