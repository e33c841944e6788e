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
-- What the workspace says of the repository. An empty branch or origin leaves what was known. Another branch or origin is
-- another pull request. No row: nothing has changed.
INSERT INTO chat_diff_statuses AS d (
    chat_id, git_branch, git_remote_origin, ahead, behind, additions, deletions, changed_files, stale_at
) VALUES (
    @chat_id, @git_branch, @git_remote_origin, @ahead, @behind, @additions, @deletions, @changed_files, now()
)
ON CONFLICT (chat_id) DO UPDATE SET
    git_branch = coalesce(nullif(excluded.git_branch, ''), d.git_branch),
    git_remote_origin = coalesce(nullif(excluded.git_remote_origin, ''), d.git_remote_origin),
    ahead = excluded.ahead, behind = excluded.behind, additions = excluded.additions, deletions = excluded.deletions,
    changed_files = excluded.changed_files, stale_at = now(), updated_at = now()
WHERE (d.git_branch, d.git_remote_origin, d.ahead, d.behind, d.additions, d.deletions, d.changed_files)
    IS DISTINCT FROM (
        coalesce(nullif(excluded.git_branch, ''), d.git_branch),
        coalesce(nullif(excluded.git_remote_origin, ''), d.git_remote_origin),
        excluded.ahead, excluded.behind, excluded.additions, excluded.deletions, excluded.changed_files
    )
RETURNING d.*;

-- name: update_pull_request :opt
-- What a provider says of the pull request; and when to ask again.
-- @optional pull_request_number, approved, reviewer_count, commits
UPDATE chat_diff_statuses SET
    url = @url, pull_request_state = @pull_request_state, pull_request_title = @pull_request_title,
    pull_request_draft = @pull_request_draft, pull_request_number = @pull_request_number,
    changes_requested = @changes_requested, approved = @approved, reviewer_count = @reviewer_count, commits = @commits,
    author_login = @author_login, author_avatar_url = @author_avatar_url, base_branch = @base_branch,
    head_branch = @head_branch, refreshed_at = now(), stale_at = now() + @fresh_for::interval, updated_at = now()
WHERE chat_id = @chat_id
RETURNING *;

-- name: postpone_diff_status :exec
-- There was nothing to learn: when to ask again.
UPDATE chat_diff_statuses SET stale_at = now() + @wait_for::interval WHERE chat_id = @chat_id;

-- name: mark_diff_stale :exec
UPDATE chat_diff_statuses SET stale_at = now() WHERE chat_id = @chat_id;

-- name: lease_stale_diff_statuses :many
-- Those that providers are to be asked about, of chats that are not archived; nobody else gets them for a while.
UPDATE chat_diff_statuses d SET stale_at = now() + @lease::interval
FROM chat_state s
WHERE s.chat_id = d.chat_id AND d.chat_id = ANY (ARRAY(
    SELECT x.chat_id FROM chat_diff_statuses x JOIN chat_state y ON y.chat_id = x.chat_id
    WHERE x.stale_at <= now() AND x.git_branch <> '' AND x.git_remote_origin <> '' AND NOT y.archived
    ORDER BY x.stale_at LIMIT @max_rows::int
    FOR UPDATE OF x SKIP LOCKED
))
RETURNING d.*, s.owner_id;

-- name: insert_git_provider :exec
-- @optional token
INSERT INTO git_providers (id, kind, host, api_url, token) VALUES (@id, @kind, @host, @api_url, @token);

-- name: update_git_provider :exec
UPDATE git_providers SET kind = @kind, host = @host, api_url = @api_url, updated_at = now() WHERE id = @id;

-- name: update_git_provider_token :exec
-- @optional token
UPDATE git_providers SET token = @token, updated_at = now() WHERE id = @id;

-- name: list_git_providers :many
-- Without their tokens.
-- @notnull has_token
SELECT id, kind, host, api_url, token IS NOT NULL AS has_token, created_at, updated_at FROM git_providers ORDER BY host;

-- name: list_git_providers_with_tokens :many
SELECT * FROM git_providers ORDER BY host;

-- name: delete_git_provider :exec
DELETE FROM git_providers WHERE id = @id;
