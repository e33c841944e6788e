"""What is known of a branch, from what a workspace and a host say; and when hosts are asked again."""

from datetime import timedelta
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from chatd.core.diff_status import (
    LONGEST,
    OVER_LEAST,
    OVER_LONGEST,
    SOON,
    LocalRefs,
    after_look,
    ask_again_after,
    count,
    shown_counts,
    storable,
    text,
)
from chatd.core.pull_requests import PullRequest, PullRequestState

PULL = PullRequest(
    url="https://h/1",
    number=1,
    title="t",
    state=PullRequestState.OPEN,
    is_draft=False,
    head_branch="b",
    base_branch="main",
    author_login="a",
    author_avatar_url="",
    approved=False,
    changes_requested=False,
    reviewer_count=0,
    additions=1,
    deletions=2,
    changed_files=3,
    commits=4,
)


class Stored(msgspec.Struct, frozen=True):
    additions: int = 0
    deletions: int = 0
    changed_files: int = 0
    pull_request_state: str = ""
    pull_request_additions: int | None = 7
    pull_request_deletions: int | None = 8
    pull_request_files: int | None = None


def counts(**fields: Any) -> tuple[int, int, int]:
    shown = shown_counts(Stored(**fields))
    return shown.additions, shown.deletions, shown.changed_files


def test_a_branch_that_is_not_checked_out_during_a_rebase_is_still_the_one_that_it_was():
    known = LocalRefs(root="/r", branch="feature", head="1")
    assert after_look(known, LocalRefs(root="/r", head="2")).branch == "feature"
    assert after_look(known, LocalRefs(root="/other", head="2")).branch == ""
    assert after_look(None, LocalRefs(root="/r", head="2")).branch == ""
    assert after_look(known, LocalRefs(root="/r", branch="main")).branch == "main"


def test_the_workspaces_own_counts_are_shown_until_a_pull_request_is_over():
    mine = {"additions": 1, "deletions": 2, "changed_files": 3}
    assert counts(**mine, pull_request_state="open") == (1, 2, 3)
    assert counts(pull_request_state="open") == (0, 0, 0)
    assert counts(pull_request_state="merged") == (7, 8, 0)
    assert counts(**mine, pull_request_state="merged") == (1, 2, 3)


@pytest.mark.parametrize(
    ("state", "unchanged", "seconds"),
    [
        (None, 0, 15),
        (None, 119, 15),
        (None, 120, 300),
        (None, 36_000, 3600),
        (PullRequestState.OPEN, 0, 120),
        (PullRequestState.OPEN, 3600, 360),
        (PullRequestState.OPEN, 864_000, 3600),
        (PullRequestState.MERGED, 0, 3600),
        (PullRequestState.CLOSED, 8_640_000, 86_400),
    ],
)
def test_hosts_are_asked_often_at_first_and_seldom_where_nothing_changes(
    state: PullRequestState | None, unchanged: int, seconds: int
):
    assert ask_again_after(state, timedelta(seconds=unchanged)) == timedelta(seconds=seconds)


@given(st.sampled_from([None, *PullRequestState]), st.timedeltas())
def test_nobody_is_asked_all_the_time_or_never_again(state: PullRequestState | None, unchanged: timedelta):
    wait = ask_again_after(state, unchanged)
    assert SOON <= wait <= OVER_LONGEST
    assert wait <= LONGEST or state in (PullRequestState.MERGED, PullRequestState.CLOSED)
    assert wait >= OVER_LEAST or state in (None, PullRequestState.OPEN)


@given(st.text(st.characters(exclude_categories=[])), st.integers())
def test_what_others_write_can_always_be_stored(said: str, number: int):
    kept = storable(msgspec.structs.replace(PULL, title=said, number=number, commits=number, additions=None))
    assert "\0" not in kept.title
    kept.title.encode()
    assert len(kept.title) <= 1000
    assert 0 <= kept.number < 2**31
    assert kept.additions is None
    assert count(number) == kept.commits
    assert text(kept.title) == kept.title
