"""What errors say to people."""

from chatd.core.errors import NotAuthorized


def test_what_one_may_not_do_reads_as_missing_in_plain_words():
    error = NotAuthorized(action="update", resource="usage_limit")

    assert error.message == "Usage limit not found, or you may not see it."
    assert (error.action, error.resource) == ("update", "usage_limit")
