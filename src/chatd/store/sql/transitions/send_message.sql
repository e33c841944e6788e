-- A user's message. An idle chat runs with it, taken by the replica that carries this out (taker) if it wants to. A busy
-- one queues it, or is interrupted for it. One that is parked on an error with a queue runs the oldest message that
-- waits, and this one waits.
--
-- send_key: a message that was sent with it already is not sent again; the change is refused then and has the ids of the
-- first time. planning: the chat's plan mode from now on; NULL leaves it.
--
-- A message that names no model leaves the chat with the one it has; with the default, if that was deleted or switched off.
CREATE FUNCTION send_message(
    target uuid, only_owner uuid, message message_row, interrupts boolean, file_ids uuid[],
    most_queued integer, most_files integer, send_key uuid, fingerprint uuid, planning boolean, taker uuid,
    taker_runner uuid, root_capacity integer, child_capacity integer
) RETURNS chat_change LANGUAGE plpgsql AS $$
DECLARE
    nobody CONSTANT uuid := '00000000-0000-0000-0000-000000000000';
    chat chat_state := (
        SELECT s FROM chat_state s
        WHERE s.chat_id = target AND (only_owner IS NULL OR s.owner_id = only_owner)
        FOR NO KEY UPDATE
    );
    at timestamptz := greatest(now(), chat.updated_at);
    change chat_change;
    sent chat_sends;
    id bigint;
    chosen uuid := nullif(message.model_config_id, nobody); -- the chat's from now on; NULL leaves it
BEGIN
    IF send_key IS NOT NULL AND chat.chat_id IS NOT NULL THEN
        SELECT w.* INTO sent FROM chat_sends w WHERE w.chat_id = target AND w.key = send_key;
        IF FOUND THEN
            change := open_transition('send_message', target, only_owner);
            change := refused(
                change, CASE WHEN sent.fingerprint = fingerprint THEN 'repeated' ELSE 'key_reused' END,
                sent.revision::text
            );
            change.inserted_ids := CASE WHEN sent.message_id IS NOT NULL THEN ARRAY[sent.message_id] END;
            change.queued_id := sent.queued_id;
            change.happened_at := sent.created_at;
            RETURN change;
        END IF;
    END IF;
    IF chosen IS NULL AND chat.status IN ('waiting', 'error') AND chat.queue_length = 0 AND NOT EXISTS (
        SELECT FROM model_configs m JOIN providers p ON p.id = m.provider_id
        WHERE m.id = chat.last_model_config_id AND m.enabled AND NOT m.deleted AND p.enabled AND NOT p.deleted
    ) THEN
        chosen := default_model();
    END IF;
    -- The common case, in as few statements as it takes: an idle chat with nothing to tidy up, which any
    -- replica may run. Passing changes from
    -- function to function, as below, costs more than the writes. tests/store show that both come to the same.
    IF chat.status = 'waiting' AND chat.queue_length = 0 AND NOT chat.archived AND NOT chat.has_open_calls
        AND chat.host_id IS NULL AND file_ids = '{}'
        AND root_capacity IS NULL AND child_capacity IS NULL AND transition_table() -> 'send_message' -> 'W' ? 'R0'
    THEN
        PERFORM set_config('chatd.transition', 'send_message', true);
        INSERT INTO messages (
            chat_id, created_at, revision, role, visibility, compressed, deleted, content_version, content, created_by,
            model_config_id, reasoning_effort
        ) VALUES (
            target, at, chat.snapshot_version + 1, message.role, coalesce(message.visibility, 'both'), false, false,
            message.content_version, message.content, nullif(message.created_by, nobody),
            nullif(message.model_config_id, nobody), message.reasoning_effort
        ) RETURNING messages.id INTO id;
        IF send_key IS NOT NULL THEN
            INSERT INTO chat_sends VALUES (target, send_key, fingerprint, id, NULL, chat.snapshot_version + 1, at);
        END IF;
        IF planning IS NOT NULL THEN
            UPDATE chats c SET plan_mode = planning WHERE c.id = target AND c.plan_mode <> planning;
        END IF;
        UPDATE chat_state SET
            status = 'running', snapshot_version = chat.snapshot_version + 1,
            history_version = chat.snapshot_version + 1, generation_attempt = (taker IS NOT NULL)::integer,
            replica_id = taker, runner_id = taker_runner, updated_at = at,
            last_model_config_id = coalesce(chosen, chat.last_model_config_id),
            last_reasoning_effort = coalesce(message.reasoning_effort, chat.last_reasoning_effort)
        WHERE chat_id = target;
        RETURN ROW(
            target, chat.owner_id, chat.is_child, 'running', false, false, false, 0, 0, chat.held_length,
            (taker IS NOT NULL)::integer, chat.snapshot_version + 1, chat.snapshot_version + 1, chat.queue_version,
            chat.retry_version, taker, taker_runner,
            coalesce(chosen, chat.last_model_config_id),
            coalesce(message.reasoning_effort, chat.last_reasoning_effort), at, NULL, NULL, NULL, NULL,
            NULL, 'send_message', 'applied', 'W', 'R0', chat.snapshot_version, chat.history_version, at, ARRAY[id], NULL,
            NULL, NULL, NULL, NULL, NULL
        )::chat_change;
    END IF;
    change := open_transition('send_message', target, only_owner);
    IF change.outcome <> 'applied' THEN
        RETURN change;
    ELSIF change.state_before NOT IN ('W', 'E0') AND change.queue_length + change.held_length >= most_queued THEN
        change.maximum := most_queued;
        RETURN refused(change, 'queue_full');
    END IF;
    IF file_ids <> '{}' THEN
        change := check_files(change, file_ids, most_files);
        IF change.outcome <> 'applied' THEN
            RETURN change;
        END IF;
        PERFORM link_files(target, file_ids);
    END IF;
    IF planning IS NOT NULL THEN
        UPDATE chats c SET plan_mode = planning WHERE c.id = target AND c.plan_mode <> planning;
    END IF;
    IF change.state_before IN ('W', 'E0') THEN
        change := cancel_open_calls(change, 'The user sent a new message before this call was answered.');
        change := insert_messages(
            change, ARRAY[message], ROW(false, false, chosen, message.reasoning_effort)::message_facts
        );
        IF send_key IS NOT NULL THEN
            INSERT INTO chat_sends VALUES (
                target, send_key, fingerprint, change.inserted_ids[1], NULL, change.snapshot_version, change.happened_at
            );
        END IF;
        change := begin_turn(change);
        RETURN close_transition(take_ownership(change, taker, taker_runner, root_capacity, child_capacity));
    END IF;
    change := enqueue(change, message);
    IF send_key IS NOT NULL THEN
        INSERT INTO chat_sends VALUES (
            target, send_key, fingerprint, NULL, change.queued_id, change.snapshot_version, change.happened_at
        );
    END IF;
    IF change.state_before = 'E1' THEN
        change := begin_turn(promote_head(change));
        change := take_ownership(change, taker, taker_runner, root_capacity, child_capacity);
    ELSIF interrupts AND change.status = 'running' THEN
        change.status := 'interrupting';
        change.updated_at := change.happened_at;
    ELSIF interrupts AND change.status = 'requires_action' THEN
        change := cancel_open_calls(change, 'The user sent a message instead of answering this call.', true);
        change := take_ownership(begin_turn(change), taker, taker_runner, root_capacity, child_capacity);
    END IF;
    RETURN close_transition(change);
END $$;
