-- A user's message. An idle chat runs with it, taken by the replica that carries this out (taker) if it wants to. A busy
-- one queues it, or is interrupted for it. One that is parked on an error with a queue runs the oldest message that
-- waits, and this one waits.
CREATE FUNCTION send_message(
    target uuid, only_owner uuid, message message_row, interrupts boolean, file_ids uuid[],
    most_queued integer, most_files integer, taker uuid, taker_runner uuid, root_capacity integer, child_capacity integer
) RETURNS chat_change LANGUAGE plpgsql AS $$
DECLARE
    change chat_change;
BEGIN
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
    IF change.state_before IN ('W', 'E0') THEN
        change := cancel_open_calls(change, 'The user sent a new message before this call was answered.');
        change := insert_messages(
            change, ARRAY[message], ROW(false, false, message.model_config_id, message.reasoning_effort)::message_facts
        );
        change := begin_turn(change);
        RETURN close_transition(take_ownership(change, taker, taker_runner, root_capacity, child_capacity));
    END IF;
    change := enqueue(change, message);
    IF change.state_before = 'E1' THEN
        change := cancel_open_calls(change, 'The user sent a new message before this call was answered.');
        change := begin_turn(promote_head(change));
        change := take_ownership(change, taker, taker_runner, root_capacity, child_capacity);
    ELSIF interrupts AND change.status = 'running' THEN
        change.status := 'interrupting';
        change.updated_at := change.happened_at;
    ELSIF interrupts AND change.status = 'requires_action' THEN
        change := cancel_open_calls(change, 'The user sent a message instead of answering this call.', true);
        change := begin_turn(change);
    END IF;
    RETURN close_transition(change);
END $$;
