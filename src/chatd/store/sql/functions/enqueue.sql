-- Puts a message at the end of the queue. The caller has seen that there is room.
CREATE FUNCTION enqueue(change chat_change, message message_row) RETURNS chat_change LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO queued_messages (
        chat_id, created_at, position, content_version, content, created_by, model_config_id, reasoning_effort
    )
    SELECT
        change.chat_id, change.happened_at, coalesce(max(q.position), 0) + 1, message.content_version, message.content,
        message.created_by, nullif(message.model_config_id, '00000000-0000-0000-0000-000000000000'),
        message.reasoning_effort
    FROM queued_messages q WHERE q.chat_id = change.chat_id
    RETURNING id INTO change.queued_id;
    change.queue_length := change.queue_length + 1;
    change.queue_version := change.snapshot_version;
    RETURN change;
END $$;
