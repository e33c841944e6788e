-- Brings message_words up to date for these chats: removes what was hidden, adds what is new, at most `most` messages of
-- each. Returns the chats that there is more to do for; all of them, and nothing was done, when someone else is at it
-- (is_busy). Does not wait for the disk, and locks nothing that a turn needs.
CREATE FUNCTION index_messages(chat_ids uuid[], most integer) RETURNS TABLE (id uuid, is_busy boolean)
LANGUAGE plpgsql AS $$
BEGIN
    -- One at a time: what follows reads one snapshot, and nobody may write from an older one after it.
    IF NOT pg_try_advisory_xact_lock(hashtextextended('chatd search index', 0)) THEN
        RETURN QUERY SELECT unnest(chat_ids), true;
        RETURN;
    END IF;
    PERFORM set_config('synchronous_commit', 'off', true); -- of this transaction
    RETURN QUERY
    WITH due AS MATERIALIZED (
        SELECT
            s.chat_id, s.owner_id, s.history_version, coalesce(i.through, 0) AS through,
            EXISTS (SELECT FROM messages m WHERE m.chat_id = s.chat_id AND m.id = i.through AND m.deleted) AS was_edited
        FROM chat_state s LEFT JOIN LATERAL (
            SELECT x.through, x.history_version FROM indexed_chats x WHERE x.chat_id = s.chat_id OFFSET 0
        ) AS i ON true
        WHERE s.chat_id = ANY (chat_ids) AND NOT s.is_child AND i.history_version IS DISTINCT FROM s.history_version
    ), fresh AS MATERIALIZED (
        SELECT
            due.chat_id, due.owner_id, m.id,
            CASE WHEN m.role IN ('user', 'assistant') AND m.visibility <> 'model' AND m.content_version = 1
                THEN message_text(m.content) END AS said
        FROM due CROSS JOIN LATERAL (
            SELECT m.* FROM messages m
            WHERE m.chat_id = due.chat_id AND m.id > due.through AND NOT m.deleted
            ORDER BY m.id LIMIT most
        ) AS m
    ), removed AS (
        DELETE FROM message_words w USING due, messages m
        WHERE due.was_edited AND w.chat_id = due.chat_id
          AND m.chat_id = w.chat_id AND m.id = w.message_id AND m.deleted
    ), added AS (
        INSERT INTO message_words (chat_id, message_id, words)
        SELECT fresh.chat_id, fresh.id, search_words(fresh.said, fresh.owner_id)
        FROM fresh WHERE fresh.said <> ''
    ), noted AS (
        INSERT INTO indexed_chats AS known (chat_id, history_version, through)
        SELECT
            due.chat_id, CASE WHEN count(fresh.id) < most THEN due.history_version ELSE 0 END,
            greatest(due.through, max(fresh.id))
        FROM due LEFT JOIN fresh ON fresh.chat_id = due.chat_id
        GROUP BY due.chat_id, due.history_version, due.through
        ON CONFLICT (chat_id) DO UPDATE SET history_version = excluded.history_version, through = excluded.through
        RETURNING known.chat_id, known.history_version
    )
    SELECT noted.chat_id, false FROM noted WHERE noted.history_version = 0;
END $$;
