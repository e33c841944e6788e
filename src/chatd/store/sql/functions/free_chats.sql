-- Chats of one pool that should run and that nobody owns, locked; those that someone else has locked are left to them, and those of
-- machines elsewhere to replicas there.
CREATE FUNCTION free_chats(of_children boolean, most integer, elsewhere text[]) RETURNS SETOF chat_state LANGUAGE sql AS $$
    SELECT * FROM chat_state s
    WHERE s.is_child = of_children AND s.replica_id IS NULL AND NOT s.archived
      AND s.status IN ('running', 'interrupting', 'requires_action')
      AND (s.host_id IS NULL OR s.host_id <> ALL (elsewhere))
    ORDER BY s.status DESC, s.updated_at
    LIMIT most
    FOR NO KEY UPDATE SKIP LOCKED;
$$;
