-- Replaces a user's message and everything after it. The old rows are hidden, not deleted; the queue is cleared.
-- Whoever runs the chat finds its history moved and starts over.
--
-- Its model is the edited message's, if none is named, or the chat's; the default, if that was deleted or switched off.
CREATE FUNCTION edit_message(
    target uuid, only_owner uuid, edited_id bigint, message message_row, file_ids uuid[], most_files integer,
    taker uuid, taker_runner uuid, root_capacity integer, child_capacity integer
) RETURNS chat_change LANGUAGE plpgsql AS $$
DECLARE
    change chat_change;
    edited messages;
    chosen uuid; -- the chat's from now on
BEGIN
    change := open_transition('edit_message', target, only_owner);
    IF change.outcome <> 'applied' THEN
        RETURN change;
    END IF;
    SELECT * INTO edited FROM messages m WHERE m.chat_id = target AND m.id = edited_id AND NOT m.deleted;
    IF NOT FOUND OR edited.visibility = 'model' THEN
        RETURN refused(change, 'message_not_found', edited_id::text);
    ELSIF edited.role <> 'user' THEN
        RETURN refused(change, 'message_not_users', edited_id::text);
    END IF;
    IF file_ids <> '{}' THEN
        change := check_files(change, file_ids, most_files);
        IF change.outcome <> 'applied' THEN
            RETURN change;
        END IF;
        PERFORM link_files(target, file_ids);
    END IF;
    WITH hidden AS (
        UPDATE messages m SET deleted = true, revision = change.snapshot_version
        WHERE m.chat_id = target AND m.id >= edited_id AND NOT m.deleted
        RETURNING m.id, m.visibility
    )
    SELECT array_agg(hidden.id ORDER BY hidden.id) FILTER (WHERE hidden.visibility <> 'model')
    INTO change.deleted_ids FROM hidden;
    IF change.queue_length + change.held_length > 0 THEN
        DELETE FROM queued_messages q WHERE q.chat_id = target;
        change.queue_length := 0;
        change.held_length := 0;
        change.queue_version := change.snapshot_version;
    END IF;
    change.has_open_calls := true; -- the last answer is another one now: cancel_open_calls looks
    change := cancel_open_calls(change, 'The user edited a message before this call was answered.');
    message.visibility := edited.visibility;
    message.model_config_id := coalesce(
        nullif(message.model_config_id, '00000000-0000-0000-0000-000000000000'), edited.model_config_id
    );
    message.reasoning_effort := coalesce(message.reasoning_effort, edited.reasoning_effort);
    chosen := coalesce(message.model_config_id, change.last_model_config_id);
    IF NOT EXISTS (
        SELECT FROM model_configs m JOIN providers p ON p.id = m.provider_id
        WHERE m.id = chosen AND m.enabled AND NOT m.deleted AND p.enabled AND NOT p.deleted
    ) THEN
        chosen := coalesce(default_model(), chosen);
    END IF;
    change := insert_messages(
        change, ARRAY[message], ROW(false, false, chosen, message.reasoning_effort)::message_facts
    );
    change.added := change.added || ROW(
        change.inserted_ids[1], message.role, message.visibility, message.content, message.content_version,
        message.created_by, message.model_config_id, message.reasoning_effort, NULL
    )::added_message;
    change.inserted_ids := NULL;
    RETURN close_transition(take_ownership(begin_turn(change), taker, taker_runner, root_capacity, child_capacity));
END $$;
