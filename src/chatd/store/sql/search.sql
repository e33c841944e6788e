-- Search over titles and what was said. Words are brought up to date behind the turns (index_messages).

-- name: search_chats :many
-- Root chats whose title, or one of whose messages, has all that is asked for; in the order of a list: pinned ones first
-- if `with_pins`, then the last active first, after a cursor of the same three. `message_id` is the newest message that
-- fits, NULL when only the title does; `snippet` is a piece of the one or the other, with the words that were found between
-- U+0001 and U+0002, and U+E002 for `<`. `owner_id` is whose chats, which also makes it fast; NULL for everyone's.
-- @optional owner_id, after_updated_at, after_id, unread, statuses, pull_requests
-- @notnull id, organization_id, owner_id, title, labels, plan_mode, client, mcp_server_ids, pin_order
-- @notnull last_read_message_id, created_at, updated_at, status, archived, queue_length, snapshot_version
-- @notnull last_model_config_id, owner_username, owner_name, has_unread, snippet
SELECT
    page.*,
    ts_headline(
        'simple',
        search_excerpt(translate(coalesce(
            (
                SELECT message_text(m.content) FROM messages m
                WHERE m.chat_id = page.id AND m.id = page.message_id AND NOT m.deleted -- its words go later
            ),
            page.title
        ), E'<\u0001\u0002', E'\uE002  '), @words::text), -- else what looks like HTML would be left out
        websearch_to_tsquery('simple', @words),
        -- One fragment: with words before what was found too.
        E'StartSel=\u0001, StopSel=\u0002, MaxFragments=1, MaxWords=24, MinWords=12, ShortWord=0'
    ) AS snippet
FROM (
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
        ) AS has_unread,
        found.message_id
    FROM (
        SELECT hits.chat_id, max(hits.message_id) AS message_id
        FROM (
            SELECT w.chat_id, w.message_id FROM message_words w
            WHERE w.words @@ (SELECT search_query(@words, @owner_id::uuid))
            UNION ALL
            SELECT t.id, NULL FROM chats t
            WHERE to_tsvector('simple', t.title) @@ (SELECT search_query(@words, NULL))
        ) AS hits
        GROUP BY hits.chat_id
    ) AS found
    JOIN chats c ON c.id = found.chat_id
    JOIN chat_state s ON s.chat_id = c.id
    JOIN users u ON u.id = c.owner_id
    WHERE NOT s.is_child AND s.archived = @archived AND c.labels @> @labels::jsonb
      AND c.owner_id = coalesce(@owner_id, c.owner_id)
      AND (
          -- (place, then latest first), after the cursor
          CASE WHEN @with_pins::boolean AND c.pin_order > 0 THEN c.pin_order ELSE 2147483647 END > @after_place::integer
          OR (
              CASE WHEN @with_pins AND c.pin_order > 0 THEN c.pin_order ELSE 2147483647 END = @after_place
              AND (s.updated_at, c.id) < (
                  coalesce(@after_updated_at::timestamptz, 'infinity'),
                  coalesce(@after_id::uuid, 'ffffffff-ffff-ffff-ffff-ffffffffffff')
              )
          )
      )
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
    ORDER BY
        CASE WHEN @with_pins AND c.pin_order > 0 THEN c.pin_order ELSE 2147483647 END, s.updated_at DESC, c.id DESC
    LIMIT @max_rows::int
) AS page
ORDER BY
    CASE WHEN @with_pins AND page.pin_order > 0 THEN page.pin_order ELSE 2147483647 END, page.updated_at DESC, page.id DESC;

-- name: index_messages :many
-- Bring the words of these chats up to date. Those that there is more to do for come back.
-- @notnull chat_id, is_busy
SELECT more.id AS chat_id, more.is_busy FROM index_messages(@chat_ids::uuid[], @most::integer) AS more;

-- name: list_unindexed_chats :many
-- Of the next chats in the order of their ids, those whose words are not up to date, and the last one in any case.
-- @notnull chat_id, is_due
SELECT page.chat_id, page.is_due FROM (
    SELECT
        part.chat_id,
        part.history_version IS DISTINCT FROM (
            SELECT i.history_version FROM indexed_chats i WHERE i.chat_id = part.chat_id
        ) AND NOT part.is_child AS is_due,
        row_number() OVER (ORDER BY part.chat_id) AS place, count(*) OVER () AS rows
    FROM (
        SELECT s.chat_id, s.history_version, s.is_child FROM chat_state s
        WHERE s.chat_id > @after_id ORDER BY s.chat_id LIMIT @max_rows::int
    ) AS part
) AS page
WHERE page.is_due OR page.place = page.rows
ORDER BY page.chat_id;
