-- The end of a hold: the message counts again, with what its editor made of it (message; NULL leaves it as it was). On an
-- idle chat it is sent. holder: who must hold it; NULL for the sweeper, who releases what is overdue.
CREATE FUNCTION release_queued(
    target uuid, only_owner uuid, queued bigint, holder uuid, message message_row, file_ids uuid[], most_files integer,
    taker uuid, taker_runner uuid, root_capacity integer, child_capacity integer
) RETURNS chat_change LANGUAGE plpgsql AS $$
DECLARE
    change chat_change;
    waiting queued_messages;
BEGIN
    change := open_transition('release_queued', target, only_owner);
    IF change.outcome <> 'applied' THEN
        RETURN change;
    END IF;
    SELECT * INTO waiting FROM queued_messages q WHERE q.chat_id = target AND q.id = queued;
    IF NOT FOUND THEN
        RETURN refused(change, 'queued_not_found', queued::text);
    ELSIF waiting.held_by IS NULL OR (holder IS NULL AND waiting.held_until > now()) THEN
        RETURN refused(change, 'queued_not_held', queued::text);
    ELSIF waiting.held_by <> holder THEN
        RETURN refused(change, 'queued_held', queued::text);
    END IF;
    IF file_ids <> '{}' THEN
        change := check_files(change, file_ids, most_files);
        IF change.outcome <> 'applied' THEN
            RETURN change;
        END IF;
        PERFORM link_files(target, file_ids);
    END IF;
    UPDATE queued_messages q SET
        held_by = NULL,
        held_until = NULL,
        content = coalesce((message).content, q.content),
        content_version = coalesce((message).content_version, q.content_version),
        model_config_id = coalesce(
            nullif((message).model_config_id, '00000000-0000-0000-0000-000000000000'), q.model_config_id
        ),
        reasoning_effort = coalesce((message).reasoning_effort, q.reasoning_effort)
    WHERE q.chat_id = target AND q.id = queued;
    change.queue_length := change.queue_length + 1;
    change.held_length := change.held_length - 1;
    change.queue_version := change.snapshot_version;
    change.queued_id := queued;
    IF change.status = 'waiting' THEN
        change := cancel_open_calls(change, 'The user sent a new message before this call was answered.');
        change := begin_turn(promote_head(change));
        change := take_ownership(change, taker, taker_runner, root_capacity, child_capacity);
    END IF;
    RETURN close_transition(change);
END $$;
