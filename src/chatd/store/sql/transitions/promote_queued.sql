-- "Send now": the message goes to the front. A chat that runs is interrupted for it; any other runs with it at once.
CREATE FUNCTION promote_queued(
    target uuid, only_owner uuid, queued bigint, taker uuid, taker_runner uuid, root_capacity integer,
    child_capacity integer
) RETURNS chat_change LANGUAGE plpgsql AS $$
DECLARE
    change chat_change;
    was_held boolean;
    front bigint; -- of all others; NULL when there are none
BEGIN
    change := open_transition('promote_queued', target, only_owner);
    IF change.outcome <> 'applied' THEN
        RETURN change;
    END IF;
    SELECT q.held_until IS NOT NULL INTO was_held FROM queued_messages q WHERE q.chat_id = target AND q.id = queued;
    IF NOT FOUND THEN
        RETURN refused(change, 'queued_not_found', queued::text);
    END IF;
    SELECT min(q.position) INTO front FROM queued_messages q WHERE q.chat_id = target AND q.id <> queued;
    UPDATE queued_messages q SET
        position = least(q.position, front - 1),
        held_by = NULL,
        held_until = NULL
    WHERE q.chat_id = target AND q.id = queued AND (was_held OR q.position >= front);
    IF FOUND THEN
        change.queue_version := change.snapshot_version;
    END IF;
    change.queue_length := change.queue_length + was_held::integer;
    change.held_length := change.held_length - was_held::integer;
    change.queued_id := queued;
    IF change.status = 'interrupting' THEN
        RETURN close_transition(change);
    ELSIF change.status = 'running' THEN
        change.status := 'interrupting';
        change.updated_at := change.happened_at;
        RETURN close_transition(change);
    END IF;
    change := cancel_open_calls(change, 'A message that was waiting was sent before this call was answered.');
    change := begin_turn(promote_head(change));
    RETURN close_transition(take_ownership(change, taker, taker_runner, root_capacity, child_capacity));
END $$;
