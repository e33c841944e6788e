-- What people see of chats, and what they set by themselves. Everything that moves a chat is in transitions.sql.

-- name: get_chat :opt
-- A chat as people see it, with its state.
-- @notnull has_unread
SELECT
    c.*, s.status, s.archived, s.has_open_calls, s.queue_length, s.held_length, s.generation_attempt, s.snapshot_version,
    s.history_version, s.queue_version, s.retry_version, s.replica_id, s.runner_id, s.last_model_config_id,
    s.last_reasoning_effort, s.updated_at, s.requires_action_deadline_at, s.compaction_requested_at, s.last_error,
    s.retry_state, u.username AS owner_username, u.display_name AS owner_name,
    EXISTS (
        SELECT FROM messages m
        WHERE m.chat_id = c.id AND m.id > c.last_read_message_id AND m.role = 'assistant' AND NOT m.deleted
    ) AS has_unread
FROM chats c JOIN chat_state s ON s.chat_id = c.id JOIN users u ON u.id = c.owner_id
WHERE c.id = @id
  -- @authorize_filter owner=s.owner_id
;

-- name: get_chat_state :opt
-- The state alone, without what people wrote about the chat.
SELECT s.* FROM chat_state s
WHERE s.chat_id = @chat_id
  -- @authorize_filter owner=s.owner_id
;

-- name: list_chats :many
-- Root chats, the last active first, before a cursor. For the chats of one user give `authorize=OwnedBy(user_id)`, which
-- is also what makes it fast: of everyone's it reads all. `title_part` in any case of letters; `pull_requests` are states of
-- the pull request of its branch: open, draft, merged, closed.
-- @optional before_updated_at, before_id, title_part, unread, statuses, pull_requests
-- @notnull has_unread
SELECT
    c.id, c.organization_id, c.owner_id, c.parent_chat_id, c.root_chat_id, c.title, c.labels, c.mode, c.plan_mode,
    c.client, c.mcp_server_ids, c.pin_order, c.last_read_message_id, c.last_turn_summary, c.summary, c.created_at,
    c.forked_from_chat_id, c.forked_from_message_id, c.workspace_id, c.context_dirty_since,
    s.updated_at, s.status, s.archived, s.queue_length, s.snapshot_version, s.last_model_config_id,
    s.last_reasoning_effort, s.requires_action_deadline_at, s.last_error, u.username AS owner_username,
    u.display_name AS owner_name,
    EXISTS (
        SELECT FROM messages m
        WHERE m.chat_id = c.id AND m.id > c.last_read_message_id AND m.role = 'assistant' AND NOT m.deleted
    ) AS has_unread
FROM chats c JOIN chat_state s ON s.chat_id = c.id JOIN users u ON u.id = c.owner_id
WHERE NOT s.is_child AND s.archived = @archived
  AND (s.updated_at, s.chat_id)
    < (coalesce(@before_updated_at::timestamptz, 'infinity'), coalesce(@before_id::uuid, 'ffffffff-ffff-ffff-ffff-ffffffffffff'))
  AND (@with_pinned::boolean OR c.pin_order = 0)
  AND (@title_part::text IS NULL OR strpos(lower(c.title), lower(@title_part)) > 0)
  AND (@unread::boolean IS NULL OR @unread = EXISTS (
      SELECT FROM messages m
      WHERE m.chat_id = c.id AND m.id > c.last_read_message_id AND m.role = 'assistant' AND NOT m.deleted
  ))
  AND (@statuses::text[] IS NULL OR s.status::text = ANY (@statuses))
  AND (@pull_requests::text[] IS NULL OR EXISTS (
      SELECT FROM chat_diff_statuses d
      WHERE d.chat_id = c.id
        AND CASE WHEN d.pull_request_state = 'open' AND d.pull_request_draft THEN 'draft' ELSE d.pull_request_state END
          = ANY (@pull_requests)
  ))
  -- @authorize_filter owner=s.owner_id
ORDER BY s.updated_at DESC, s.chat_id DESC
LIMIT @max_rows::int;

-- name: list_labeled_chats :many
-- As list_chats, those that have all these labels. A query of its own, because labels are found by another index.
-- @optional before_updated_at, before_id, title_part, unread, statuses, pull_requests
-- @notnull has_unread
SELECT
    c.id, c.organization_id, c.owner_id, c.parent_chat_id, c.root_chat_id, c.title, c.labels, c.mode, c.plan_mode,
    c.client, c.mcp_server_ids, c.pin_order, c.last_read_message_id, c.last_turn_summary, c.summary, c.created_at,
    c.forked_from_chat_id, c.forked_from_message_id, c.workspace_id, c.context_dirty_since,
    s.updated_at, s.status, s.archived, s.queue_length, s.snapshot_version, s.last_model_config_id,
    s.last_reasoning_effort, s.requires_action_deadline_at, s.last_error, u.username AS owner_username,
    u.display_name AS owner_name,
    EXISTS (
        SELECT FROM messages m
        WHERE m.chat_id = c.id AND m.id > c.last_read_message_id AND m.role = 'assistant' AND NOT m.deleted
    ) AS has_unread
FROM chats c JOIN chat_state s ON s.chat_id = c.id JOIN users u ON u.id = c.owner_id
WHERE NOT s.is_child AND s.archived = @archived AND c.labels @> @labels::jsonb
  AND (s.updated_at, s.chat_id)
    < (coalesce(@before_updated_at::timestamptz, 'infinity'), coalesce(@before_id::uuid, 'ffffffff-ffff-ffff-ffff-ffffffffffff'))
  AND (@with_pinned::boolean OR c.pin_order = 0)
  AND (@title_part::text IS NULL OR strpos(lower(c.title), lower(@title_part)) > 0)
  AND (@unread::boolean IS NULL OR @unread = EXISTS (
      SELECT FROM messages m
      WHERE m.chat_id = c.id AND m.id > c.last_read_message_id AND m.role = 'assistant' AND NOT m.deleted
  ))
  AND (@statuses::text[] IS NULL OR s.status::text = ANY (@statuses))
  AND (@pull_requests::text[] IS NULL OR EXISTS (
      SELECT FROM chat_diff_statuses d
      WHERE d.chat_id = c.id
        AND CASE WHEN d.pull_request_state = 'open' AND d.pull_request_draft THEN 'draft' ELSE d.pull_request_state END
          = ANY (@pull_requests)
  ))
  -- @authorize_filter owner=c.owner_id
ORDER BY s.updated_at DESC, s.chat_id DESC
LIMIT @max_rows::int;

-- name: list_pinned_chats :many
-- A user's pinned chats in their order, after a cursor; with all these labels, or '{}'.
-- @optional after_pin_order, after_id, title_part, unread, statuses, pull_requests
-- @notnull has_unread
SELECT
    c.id, c.organization_id, c.owner_id, c.parent_chat_id, c.root_chat_id, c.title, c.labels, c.mode, c.plan_mode,
    c.client, c.mcp_server_ids, c.pin_order, c.last_read_message_id, c.last_turn_summary, c.summary, c.created_at,
    c.forked_from_chat_id, c.forked_from_message_id, c.workspace_id, c.context_dirty_since,
    s.updated_at, s.status, s.archived, s.queue_length, s.snapshot_version, s.last_model_config_id,
    s.last_reasoning_effort, s.requires_action_deadline_at, s.last_error, u.username AS owner_username,
    u.display_name AS owner_name,
    EXISTS (
        SELECT FROM messages m
        WHERE m.chat_id = c.id AND m.id > c.last_read_message_id AND m.role = 'assistant' AND NOT m.deleted
    ) AS has_unread
FROM chats c JOIN chat_state s ON s.chat_id = c.id JOIN users u ON u.id = c.owner_id
WHERE c.owner_id = @owner_id AND c.pin_order > 0 AND c.labels @> @labels::jsonb
  AND (c.pin_order, c.id)
    > (coalesce(@after_pin_order::integer, 0), coalesce(@after_id::uuid, '00000000-0000-0000-0000-000000000000'))
  AND (@title_part::text IS NULL OR strpos(lower(c.title), lower(@title_part)) > 0)
  AND (@unread::boolean IS NULL OR @unread = EXISTS (
      SELECT FROM messages m
      WHERE m.chat_id = c.id AND m.id > c.last_read_message_id AND m.role = 'assistant' AND NOT m.deleted
  ))
  AND (@statuses::text[] IS NULL OR s.status::text = ANY (@statuses))
  AND (@pull_requests::text[] IS NULL OR EXISTS (
      SELECT FROM chat_diff_statuses d
      WHERE d.chat_id = c.id
        AND CASE WHEN d.pull_request_state = 'open' AND d.pull_request_draft THEN 'draft' ELSE d.pull_request_state END
          = ANY (@pull_requests)
  ))
  -- @authorize_filter owner=c.owner_id
ORDER BY c.pin_order, c.id
LIMIT @max_rows::int;

-- name: list_child_chats :many
-- All descendants of these root chats, the youngest of each first.
-- @notnull has_unread
SELECT
    c.id, c.organization_id, c.owner_id, c.parent_chat_id, c.root_chat_id, c.title, c.labels, c.mode, c.plan_mode,
    c.client, c.mcp_server_ids, c.pin_order, c.last_read_message_id, c.last_turn_summary, c.summary, c.created_at,
    c.forked_from_chat_id, c.forked_from_message_id, c.workspace_id, c.context_dirty_since,
    s.updated_at, s.status, s.archived, s.queue_length, s.snapshot_version, s.last_model_config_id,
    s.last_reasoning_effort, s.requires_action_deadline_at, s.last_error, u.username AS owner_username,
    u.display_name AS owner_name,
    EXISTS (
        SELECT FROM messages m
        WHERE m.chat_id = c.id AND m.id > c.last_read_message_id AND m.role = 'assistant' AND NOT m.deleted
    ) AS has_unread
FROM chats c JOIN chat_state s ON s.chat_id = c.id JOIN users u ON u.id = c.owner_id
WHERE c.root_chat_id = ANY (@root_chat_ids::uuid[])
  -- @authorize_filter owner=c.owner_id
ORDER BY c.root_chat_id, c.created_at DESC, c.id DESC
LIMIT @max_rows::int;

-- name: update_chat :opt
-- What is NULL stays; labels are replaced as a whole.
-- @optional title, labels, plan_mode
UPDATE chats SET
    title = coalesce(@title::text, title),
    labels = coalesce(@labels::jsonb, labels),
    plan_mode = coalesce(@plan_mode::boolean, plan_mode)
WHERE id = @id
  -- @authorize_filter owner=owner_id
RETURNING *;

-- name: pin_chat :many
-- 0 unpins. Else its place among the owner's pinned chats, as far as there is one; a chat that was not pinned becomes the
-- last. All are numbered anew, and those that moved come back. A child can't be pinned (a constraint), nor can an
-- archived chat.
WITH target AS (
    SELECT c.id, c.owner_id, c.pin_order FROM chats c JOIN chat_state s ON s.chat_id = c.id
    WHERE c.id = @id AND (@place::integer = 0 OR NOT s.archived)
      -- @authorize_filter owner=s.owner_id
), ranked AS (
    SELECT o.id, 2 * row_number() OVER (ORDER BY o.pin_order, o.id) AS rank
    FROM target JOIN chats o ON o.owner_id = target.owner_id AND o.pin_order > 0 AND o.id <> target.id
    UNION ALL
    SELECT target.id, CASE WHEN target.pin_order = 0 THEN 9223372036854775807 ELSE 2 * @place::bigint - 1 END
    FROM target WHERE @place > 0
), placed AS (
    SELECT ranked.id, row_number() OVER (ORDER BY ranked.rank)::integer AS place FROM ranked
    UNION ALL
    SELECT target.id, 0 FROM target WHERE @place = 0
)
UPDATE chats SET pin_order = placed.place
FROM placed
WHERE chats.id = placed.id AND (chats.pin_order <> placed.place OR chats.id = @id)
RETURNING chats.id, chats.pin_order;

-- name: mark_chat_read :opt
-- Up to this message, never back, and never past the last one: what comes later is unread whatever a client says. No row
-- when it was read that far already.
UPDATE chats SET last_read_message_id = greatest(
    last_read_message_id,
    least(@message_id::bigint, (SELECT m.id FROM messages m WHERE m.chat_id = @id ORDER BY m.id DESC LIMIT 1))
)
WHERE id = @id AND last_read_message_id < @message_id
  -- @authorize_filter owner=owner_id
RETURNING last_read_message_id;

-- name: replace_chat_title :opt
-- Only if the title is still the one that was read: whoever renamed the chat meanwhile has the last word.
UPDATE chats SET title = @title::text
WHERE id = @id AND title = @expected
  -- @authorize_filter owner=owner_id
RETURNING id;

-- name: set_turn_label :opt
-- What a sidebar shows of the last turn; NULL for nothing. No row when the history has moved on since: the row is locked
-- so that no commit can come between the look and the write.
-- @optional label
WITH fenced AS (
    SELECT s.chat_id FROM chat_state s
    WHERE s.chat_id = @id AND s.history_version = @history_version
      -- @authorize_filter owner=s.owner_id
    FOR SHARE
)
UPDATE chats SET last_turn_summary = @label::text
FROM fenced
WHERE chats.id = fenced.chat_id
RETURNING chats.id;

-- name: set_chat_summary :opt
-- Fenced as set_turn_label is.
WITH fenced AS (
    SELECT s.chat_id FROM chat_state s
    WHERE s.chat_id = @id AND s.history_version = @history_version
      -- @authorize_filter owner=s.owner_id
    FOR SHARE
)
UPDATE chats SET summary = @summary::text, summary_generated_at = now()
FROM fenced
WHERE chats.id = fenced.chat_id
RETURNING chats.id;

-- name: count_messages_since_summary :opt
-- The user's, and whether there is a summary; no row when the history has moved on.
-- @notnull has_summary, new_messages
SELECT
    c.summary_generated_at IS NOT NULL AS has_summary,
    (
        SELECT count(*) FROM messages m
        WHERE m.chat_id = c.id AND m.role = 'user' AND m.visibility <> 'model' AND NOT m.deleted
          AND m.created_at > coalesce(c.summary_generated_at, '-infinity')
    ) AS new_messages
FROM chats c JOIN chat_state s ON s.chat_id = c.id
WHERE c.id = @id AND s.history_version = @history_version
  -- @authorize_filter owner=s.owner_id
;
