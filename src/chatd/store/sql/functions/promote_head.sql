-- Makes the first message that waits the user's next one.
CREATE FUNCTION promote_head(change chat_change) RETURNS chat_change LANGUAGE plpgsql AS $$
DECLARE
    head added_message;
BEGIN
    WITH waiting AS (
        SELECT q.id FROM queued_messages q
        WHERE q.chat_id = change.chat_id AND q.held_until IS NULL
        ORDER BY q.position, q.id LIMIT 1
    ), taken AS (
        DELETE FROM queued_messages q USING waiting WHERE q.chat_id = change.chat_id AND q.id = waiting.id RETURNING q.*
    ), inserted AS (
        INSERT INTO messages (
            chat_id, created_at, revision, role, visibility, compressed, deleted, content_version, content, created_by,
            model_config_id, reasoning_effort
        )
        SELECT
            change.chat_id, change.happened_at, change.snapshot_version, 'user', 'both', false, false,
            taken.content_version, taken.content, taken.created_by, taken.model_config_id, taken.reasoning_effort
        FROM taken
        RETURNING *
    )
    SELECT
        inserted.id, inserted.role, inserted.visibility, inserted.content, inserted.content_version, inserted.created_by,
        inserted.model_config_id, inserted.reasoning_effort, taken.id
    INTO STRICT head FROM inserted, taken;
    change.added := change.added || head;
    change.queue_length := change.queue_length - 1;
    change.queue_version := change.snapshot_version;
    change.history_version := change.snapshot_version;
    change.last_model_config_id := coalesce(head.model_config_id, change.last_model_config_id);
    change.last_reasoning_effort := coalesce(head.reasoning_effort, change.last_reasoning_effort);
    RETURN change;
END $$;
