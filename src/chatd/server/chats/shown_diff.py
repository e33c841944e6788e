"""What is known of a chat's branch and pull request, as clients see it."""

from chatd.core.diff_status import shown_counts
from chatd.core.pull_requests import PullRequestState
from chatd.store.queries import ChatDiffStatus
from chatd.wire import chats as wire


def shown_diff(row: ChatDiffStatus) -> wire.ChatDiffStatus:
    counts = shown_counts(row)
    return wire.ChatDiffStatus(
        chat_id=row.chat_id,
        branch=row.git_branch or None,
        remote_origin=row.git_remote_origin or None,
        ahead=row.ahead,
        behind=row.behind,
        additions=counts.additions,
        deletions=counts.deletions,
        changed_files=counts.changed_files,
        url=row.url or None,
        pull_request_state=PullRequestState(row.pull_request_state).value if row.pull_request_state else None,
        pull_request_title=row.pull_request_title,
        pull_request_draft=row.pull_request_draft,
        changes_requested=row.changes_requested,
        author_login=row.author_login or None,
        author_avatar_url=row.author_avatar_url or None,
        base_branch=row.base_branch or None,
        head_branch=row.head_branch or None,
        pr_number=row.pull_request_number,
        commits=row.commits,
        approved=row.approved,
        reviewer_count=row.reviewer_count,
        refreshed_at=row.refreshed_at,
    )
