-- What is known of the files that a chat works on: its instructions, its repository, its pull request.

-- name: get_chat_context :opt
SELECT x.* FROM chat_contexts x JOIN chat_state s ON s.chat_id = x.chat_id
WHERE x.chat_id = @chat_id
  -- @authorize_filter owner=s.owner_id
;

-- name: upsert_chat_context :opt
-- What the chat is given from now on. It is as the workspace has it, so the chat is not dirty any more.
WITH pinned AS (
    INSERT INTO chat_contexts (chat_id, hash, snapshot, pinned_at)
    SELECT c.id, @hash, @snapshot, now() FROM chats c
    WHERE c.id = @chat_id
      -- @authorize_filter owner=c.owner_id
    ON CONFLICT (chat_id) DO UPDATE
        SET hash = excluded.hash, snapshot = excluded.snapshot, pinned_at = excluded.pinned_at
    RETURNING chat_id
)
UPDATE chats c SET context_dirty_since = NULL FROM pinned WHERE c.id = pinned.chat_id
RETURNING c.id;

-- name: mark_contexts :many
-- What the workspace has now: the chats in it that were given something else are dirty from now on, and those that were
-- given the same are not any more. Only those for which this is news.
UPDATE chats c SET context_dirty_since = CASE WHEN x.hash <> @hash THEN now() END
FROM chat_contexts x
WHERE x.chat_id = c.id AND c.workspace_id = @workspace_id::uuid
  AND (x.hash <> @hash) IS DISTINCT FROM (c.context_dirty_since IS NOT NULL)
RETURNING c.id, c.owner_id;

-- name: get_diff_status :opt
SELECT d.* FROM chat_diff_statuses d JOIN chat_state s ON s.chat_id = d.chat_id
WHERE d.chat_id = @chat_id
  -- @authorize_filter owner=s.owner_id
;

-- name: list_diff_statuses :many
SELECT d.* FROM chat_diff_statuses d JOIN chat_state s ON s.chat_id = d.chat_id
WHERE d.chat_id = ANY (@chat_ids::uuid[])
  -- @authorize_filter owner=s.owner_id
;

-- name: upsert_diff_refs :opt
-- What the workspace says of the repository. A commit, a push or another branch makes it stale at once, other changes
-- don't. No row: nothing has changed. The times are the caller's.
-- @optional ahead, behind
INSERT INTO chat_diff_statuses AS d (
    chat_id, git_root, git_branch, git_head, git_upstream, git_remote_origin, git_host, git_path, ahead, behind,
    additions, deletions, changed_files, stale_at, updated_at
) VALUES (
    @chat_id, @git_root, @git_branch, @git_head, @git_upstream, @git_remote_origin, @git_host, @git_path, @ahead,
    @behind, @additions, @deletions, @changed_files, @at, @at
)
ON CONFLICT (chat_id) DO UPDATE SET
    git_root = excluded.git_root, git_branch = excluded.git_branch, git_head = excluded.git_head,
    git_upstream = excluded.git_upstream, git_remote_origin = excluded.git_remote_origin,
    git_host = excluded.git_host, git_path = excluded.git_path, ahead = excluded.ahead, behind = excluded.behind,
    additions = excluded.additions, deletions = excluded.deletions, changed_files = excluded.changed_files,
    updated_at = excluded.updated_at,
    stale_at = CASE
        WHEN (d.git_branch, d.git_head, d.git_upstream, d.git_host, d.git_path, d.ahead) IS DISTINCT FROM
            (excluded.git_branch, excluded.git_head, excluded.git_upstream, excluded.git_host, excluded.git_path,
                excluded.ahead)
        THEN excluded.stale_at ELSE d.stale_at
    END
WHERE (d.git_root, d.git_branch, d.git_head, d.git_upstream, d.git_remote_origin, d.git_host, d.git_path, d.ahead,
        d.behind, d.additions, d.deletions, d.changed_files)
    IS DISTINCT FROM
    (excluded.git_root, excluded.git_branch, excluded.git_head, excluded.git_upstream, excluded.git_remote_origin,
        excluded.git_host, excluded.git_path, excluded.ahead, excluded.behind, excluded.additions, excluded.deletions,
        excluded.changed_files)
RETURNING d.*;

-- name: forget_pull_request :exec
-- The chat is on this branch of this repository: what is known of the pull request of another is not about it.
UPDATE chat_diff_statuses SET
    url = '', pull_request_state = '', pull_request_title = '', pull_request_draft = false, pull_request_number = NULL,
    changes_requested = false, approved = NULL, reviewer_count = NULL, commits = NULL, pull_request_additions = NULL,
    pull_request_deletions = NULL, pull_request_files = NULL, author_login = '', author_avatar_url = '',
    base_branch = '', head_branch = '', refreshed_at = NULL
WHERE chat_id = @chat_id AND (git_host, git_path, git_branch) <> (@git_host, @git_path, @git_branch);

-- name: update_pull_request :opt
-- What a host says of the pull request of the branch that it was asked about; and when to ask again, unless the row
-- became stale meanwhile. An empty url: there is none. No row: it is about another branch by now.
-- @optional pull_request_number, approved, reviewer_count, commits
-- @optional pull_request_additions, pull_request_deletions, pull_request_files
UPDATE chat_diff_statuses SET
    url = @url, pull_request_state = @pull_request_state, pull_request_title = @pull_request_title,
    pull_request_draft = @pull_request_draft, pull_request_number = @pull_request_number,
    changes_requested = @changes_requested, approved = @approved, reviewer_count = @reviewer_count, commits = @commits,
    pull_request_additions = @pull_request_additions, pull_request_deletions = @pull_request_deletions,
    pull_request_files = @pull_request_files,
    author_login = @author_login, author_avatar_url = @author_avatar_url, base_branch = @base_branch,
    head_branch = @head_branch, refreshed_at = @at, updated_at = @changed_at,
    stale_at = CASE WHEN stale_at = @leased_until THEN @stale_at ELSE stale_at END
WHERE chat_id = @chat_id AND (git_host, git_path, git_branch) = (@git_host, @git_path, @git_branch)
RETURNING *;

-- name: postpone_diff_statuses :exec
-- There was nothing to learn: when to ask again, unless they became stale meanwhile.
UPDATE chat_diff_statuses SET stale_at = @stale_at
WHERE chat_id = ANY (@chat_ids::uuid[]) AND stale_at = @leased_until;

-- name: mark_diff_stale :exec
-- Those of a chat and its descendants.
UPDATE chat_diff_statuses d SET stale_at = @at
FROM chats c
WHERE d.chat_id = c.id AND (c.id = @chat_id OR c.root_chat_id = @chat_id) AND d.stale_at > @at;

-- name: lease_stale_diff_statuses :many
-- Those that hosts are to be asked about, up to so many of each host that may be asked; nobody else gets them for a
-- while. Those of archived chats are put aside until someone marks them.
-- @notnull is_archived
UPDATE chat_diff_statuses d SET stale_at = CASE WHEN s.archived THEN 'infinity' ELSE @leased_until::timestamptz END
FROM chat_state s
WHERE s.chat_id = d.chat_id AND d.chat_id = ANY (ARRAY(
    SELECT due.chat_id
    FROM git_providers p
    CROSS JOIN LATERAL (
        SELECT x.chat_id FROM chat_diff_statuses x
        WHERE x.git_host = p.host AND x.stale_at <= @at AND x.git_host <> '' AND x.git_branch <> ''
        ORDER BY x.stale_at LIMIT @max_rows::int
        FOR UPDATE SKIP LOCKED
    ) due
    WHERE p.token IS NOT NULL AND NOT EXISTS (SELECT FROM git_host_pauses w WHERE w.host = p.host AND w.until > @at)
))
RETURNING d.*, s.owner_id, s.archived AS is_archived;

-- name: pause_git_host :exec
INSERT INTO git_host_pauses AS w (host, until) VALUES (@host, @until)
ON CONFLICT (host) DO UPDATE SET until = greatest(w.until, excluded.until);

-- name: get_git_host_pause :opt
-- Until when it wants no requests, if it does.
SELECT w.until FROM git_host_pauses w WHERE w.host = @host AND w.until > @at;

-- name: resume_git_host :exec
-- It may be asked again: with another token, say.
DELETE FROM git_host_pauses WHERE host = @host;

-- name: insert_git_provider :exec
-- @optional token
INSERT INTO git_providers (id, kind, host, api_url, token) VALUES (@id, @kind, @host, @api_url, @token);

-- name: update_git_provider :exec
UPDATE git_providers SET kind = @kind, host = @host, api_url = @api_url, updated_at = now() WHERE id = @id;

-- name: update_git_provider_token :exec
-- As update_provider_key: not now().
-- @optional token
UPDATE git_providers SET token = @token, updated_at = clock_timestamp() WHERE id = @id;

-- name: list_git_providers :many
-- Without their tokens.
-- @notnull has_token
SELECT id, kind, host, api_url, token IS NOT NULL AS has_token, created_at, updated_at FROM git_providers ORDER BY host;

-- name: list_git_providers_with_tokens :many
SELECT * FROM git_providers ORDER BY host;

-- name: delete_git_provider :exec
DELETE FROM git_providers WHERE id = @id;
