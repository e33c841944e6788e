-- Messages are written by transitions only. Whose chat it is stands in chat_state.

-- name: list_messages_page :many
-- What people see of a chat: newest first, before a message, and after another.
-- @optional before_id, after_id
SELECT m.* FROM messages m JOIN chat_state s ON s.chat_id = m.chat_id
WHERE m.chat_id = @chat_id AND m.id < coalesce(@before_id::bigint, 9223372036854775807)
  AND m.id > coalesce(@after_id::bigint, 0)
  AND m.visibility IN ('user', 'both') AND NOT m.deleted
  -- @authorize_filter owner=s.owner_id
ORDER BY m.id DESC
LIMIT @max_rows::int;

-- name: list_messages_after :many
-- What people see of a chat that came after a message, in order.
SELECT m.* FROM messages m JOIN chat_state s ON s.chat_id = m.chat_id
WHERE m.chat_id = @chat_id AND m.id > @after_id AND m.visibility IN ('user', 'both') AND NOT m.deleted
  -- @authorize_filter owner=s.owner_id
ORDER BY m.id
LIMIT @max_rows::int;

-- name: list_user_messages :many
-- What people have written in a chat, newest first.
SELECT m.id, m.content_version, m.content FROM messages m JOIN chat_state s ON s.chat_id = m.chat_id
WHERE m.chat_id = @chat_id AND m.role = 'user' AND m.visibility IN ('user', 'both') AND NOT m.compressed
  AND NOT m.deleted
  -- @authorize_filter owner=s.owner_id
ORDER BY m.id DESC
LIMIT @max_rows::int;

-- name: find_messages :many
-- What users and assistants have said with these words in it, in any case of letters; newest first, before a message.
-- `places` is how often they are in it. No sign among them means anything but itself.
-- @optional before_id
-- @notnull places
SELECT
    m.id, m.role,
    (length(said.text) - length(replace(said.text, lower(@words::text), ''))) / length(lower(@words)) AS places
FROM messages m JOIN chat_state s ON s.chat_id = m.chat_id
CROSS JOIN LATERAL (
    SELECT lower(string_agg(part #>> '{}', E'\n')) AS text
    FROM jsonb_path_query(m.content, '$[*] ? (@.type == "text").text') AS part
) AS said
WHERE m.chat_id = @chat_id AND m.id < coalesce(@before_id::bigint, 9223372036854775807)
  AND m.role IN ('user', 'assistant') AND m.visibility IN ('user', 'both') AND NOT m.deleted
  AND strpos(said.text, lower(@words)) > 0
  -- @authorize_filter owner=s.owner_id
ORDER BY m.id DESC
LIMIT @max_rows::int;

-- name: get_send :opt
-- What was answered to a message that was sent with this key.
SELECT w.* FROM chat_sends w JOIN chat_state s ON s.chat_id = w.chat_id
WHERE w.chat_id = @chat_id AND w.key = @key
  -- @authorize_filter owner=s.owner_id
;

-- name: delete_old_sends :exec
-- Keys of messages that were sent long ago: who sends one again by now is no longer waiting for its answer.
-- By their places in the table, which hold: nothing updates a row.
DELETE FROM chat_sends WHERE ctid = ANY (ARRAY(
    SELECT old.ctid FROM chat_sends old
    WHERE old.created_at < now() - @older_than::interval
    ORDER BY old.created_at LIMIT @max_rows::int
));

-- name: list_prompt_messages :many
-- What a prompt is built from: system messages, the newest summary (model only and compressed), and what follows it. What
-- else a compaction wrote is for people.
-- @notnull chat_id, id, created_at, revision, role, visibility, compressed, deleted, content_version, content
SELECT p.* FROM (
    SELECT m.* FROM messages m
    WHERE m.chat_id = @chat_id AND m.visibility IN ('model', 'both') AND NOT m.deleted
      AND m.id >= coalesce((
          SELECT b.id FROM messages b
          WHERE b.chat_id = @chat_id AND b.compressed AND b.visibility = 'model' AND NOT b.deleted
          ORDER BY b.id DESC LIMIT 1
      ), 0)
    UNION ALL
    SELECT m.* FROM messages m
    WHERE m.chat_id = @chat_id AND m.role = 'system' AND m.visibility IN ('model', 'both') AND NOT m.deleted
      AND m.id < (
          SELECT b.id FROM messages b
          WHERE b.chat_id = @chat_id AND b.compressed AND b.visibility = 'model' AND NOT b.deleted
          ORDER BY b.id DESC LIMIT 1
      )
) AS p JOIN chat_state s ON s.chat_id = p.chat_id
WHERE (NOT p.compressed OR p.visibility = 'model')
  -- @authorize_filter owner=s.owner_id
ORDER BY p.id;

-- name: get_message :opt
-- One that people see.
SELECT m.* FROM messages m JOIN chat_state s ON s.chat_id = m.chat_id
WHERE m.chat_id = @chat_id AND m.id = @id AND m.visibility IN ('user', 'both') AND NOT m.deleted
  -- @authorize_filter owner=s.owner_id
;

-- name: has_unread :one
-- Whether the assistant has written since the owner last looked.
-- @notnull has_unread
SELECT count(*) > 0 AS has_unread FROM (
    SELECT FROM chats c JOIN messages m ON m.chat_id = c.id AND m.id > c.last_read_message_id
    WHERE c.id = @chat_id AND m.role = 'assistant' AND NOT m.deleted
      -- @authorize_filter owner=c.owner_id
    LIMIT 1
) AS unread;

-- name: sum_cost_by_model :many
-- What the chats of a user cost in a period, dearest model first. Deleted messages count, they were paid for, and so do
-- titles, labels and summaries; what was copied into a fork does not. `unpriced` is the number of answers whose cost is
-- not known. Sums are exact whole numbers that never overflow.
-- @notnull cost_microdollars, answers, unpriced
SELECT
    paid.model_config_id,
    coalesce(sum(paid.cost_microdollars), 0) AS cost_microdollars,
    count(*) AS answers,
    count(*) FILTER (WHERE paid.cost_microdollars IS NULL) AS unpriced
FROM (
    SELECT c.owner_id, m.model_config_id, m.cost_microdollars
    FROM chats c JOIN messages m ON m.chat_id = c.id
    WHERE c.owner_id = @owner_id AND m.created_at >= @since::timestamptz AND m.created_at < @until::timestamptz
      AND m.id > c.copied_through AND (m.role = 'assistant' OR m.cost_microdollars IS NOT NULL)
    UNION ALL
    SELECT s.owner_id, s.model_config_id, s.cost_microdollars
    FROM side_costs s
    WHERE s.owner_id = @owner_id AND s.created_at >= @since AND s.created_at < @until
) AS paid
WHERE true
  -- @authorize_filter owner=paid.owner_id
GROUP BY paid.model_config_id
ORDER BY cost_microdollars DESC, paid.model_config_id;

-- name: sum_cost_by_chat :many
-- As sum_cost_by_model, for each root chat with its children; the dearest ones.
-- @notnull root_chat_id, title, cost_microdollars, answers, unpriced
SELECT
    paid.root_chat_id,
    (SELECT c.title FROM chats c WHERE c.id = paid.root_chat_id) AS title,
    coalesce(sum(paid.cost_microdollars), 0) AS cost_microdollars,
    count(*) AS answers,
    count(*) FILTER (WHERE paid.cost_microdollars IS NULL) AS unpriced
FROM (
    SELECT c.owner_id, coalesce(c.root_chat_id, c.id) AS root_chat_id, m.cost_microdollars
    FROM chats c JOIN messages m ON m.chat_id = c.id
    WHERE c.owner_id = @owner_id AND m.created_at >= @since::timestamptz AND m.created_at < @until::timestamptz
      AND m.id > c.copied_through AND (m.role = 'assistant' OR m.cost_microdollars IS NOT NULL)
    UNION ALL
    SELECT s.owner_id, coalesce(c.root_chat_id, c.id), s.cost_microdollars
    FROM side_costs s JOIN chats c ON c.id = s.chat_id
    WHERE s.owner_id = @owner_id AND s.created_at >= @since AND s.created_at < @until
) AS paid
WHERE true
  -- @authorize_filter owner=paid.owner_id
GROUP BY paid.root_chat_id
ORDER BY cost_microdollars DESC, paid.root_chat_id
LIMIT @max_rows::int;

-- name: sum_cost_by_day :many
-- As sum_cost_by_model, for each day (UTC) on which anything was paid for and each model that it was paid for.
-- @notnull day, cost_microdollars, answers, unpriced
SELECT
    (paid.created_at AT TIME ZONE 'UTC')::date AS day,
    paid.model_config_id,
    coalesce(sum(paid.cost_microdollars), 0) AS cost_microdollars,
    count(*) AS answers,
    count(*) FILTER (WHERE paid.cost_microdollars IS NULL) AS unpriced
FROM (
    SELECT c.owner_id, m.created_at, m.model_config_id, m.cost_microdollars
    FROM chats c JOIN messages m ON m.chat_id = c.id
    WHERE c.owner_id = @owner_id AND m.created_at >= @since::timestamptz AND m.created_at < @until::timestamptz
      AND m.id > c.copied_through AND (m.role = 'assistant' OR m.cost_microdollars IS NOT NULL)
    UNION ALL
    SELECT s.owner_id, s.created_at, s.model_config_id, s.cost_microdollars
    FROM side_costs s
    WHERE s.owner_id = @owner_id AND s.created_at >= @since AND s.created_at < @until
) AS paid
WHERE true
  -- @authorize_filter owner=paid.owner_id
GROUP BY day, paid.model_config_id
ORDER BY day, cost_microdollars DESC, paid.model_config_id;

-- name: sum_cost_by_user :many
-- As sum_cost_by_model, for each user, in the order of their ids, after a cursor. Who has spent nothing is listed too.
-- @optional after_id
-- @notnull cost_microdollars, answers, unpriced
SELECT u.id AS user_id, u.username, u.display_name, paid.cost_microdollars, paid.answers, paid.unpriced
FROM users u CROSS JOIN LATERAL (
    SELECT
        coalesce(sum(one.cost_microdollars), 0) AS cost_microdollars,
        count(*) AS answers,
        count(*) FILTER (WHERE one.cost_microdollars IS NULL) AS unpriced
    FROM (
        SELECT m.cost_microdollars
        FROM chats c JOIN messages m ON m.chat_id = c.id
        WHERE c.owner_id = u.id AND m.created_at >= @since::timestamptz AND m.created_at < @until::timestamptz
          AND m.id > c.copied_through AND (m.role = 'assistant' OR m.cost_microdollars IS NOT NULL)
        UNION ALL
        SELECT s.cost_microdollars
        FROM side_costs s
        WHERE s.owner_id = u.id AND s.created_at >= @since AND s.created_at < @until
    ) AS one
) AS paid
WHERE u.id > coalesce(@after_id::uuid, '00000000-0000-0000-0000-000000000000')
  -- @authorize_filter owner=u.id
ORDER BY u.id
LIMIT @max_rows::int;

-- name: sum_cost_of_family :opt
-- What a root chat and its children have cost, ever; of a child, the same as of its root. No row for who may not see it.
-- @notnull cost_microdollars, answers, unpriced
SELECT paid.cost_microdollars, paid.answers, paid.unpriced
FROM chats target CROSS JOIN LATERAL (
    SELECT
        coalesce(sum(one.cost_microdollars), 0) AS cost_microdollars,
        count(*) AS answers,
        count(*) FILTER (WHERE one.cost_microdollars IS NULL) AS unpriced
    FROM (
        SELECT c.id, c.copied_through FROM chats c WHERE c.id = coalesce(target.root_chat_id, target.id)
        UNION ALL
        SELECT c.id, 0 FROM chats c WHERE c.root_chat_id = coalesce(target.root_chat_id, target.id)
    ) AS family CROSS JOIN LATERAL (
        SELECT m.cost_microdollars FROM messages m
        WHERE m.chat_id = family.id AND m.id > family.copied_through
          AND (m.role = 'assistant' OR m.cost_microdollars IS NOT NULL)
        UNION ALL
        SELECT s.cost_microdollars FROM side_costs s WHERE s.chat_id = family.id
    ) AS one
) AS paid
WHERE target.id = @chat_id
  -- @authorize_filter owner=target.owner_id
;

-- name: sum_runtime_ms :one
-- How long models worked for a user in a period; deleted messages count.
-- @notnull runtime_ms
SELECT coalesce(sum(m.runtime_ms), 0)::bigint AS runtime_ms
FROM chats c JOIN messages m ON m.chat_id = c.id
WHERE c.owner_id = @owner_id AND m.created_at >= @since::timestamptz AND m.created_at < @until::timestamptz
  -- @authorize_filter owner=c.owner_id
;
