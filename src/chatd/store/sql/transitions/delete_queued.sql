-- Takes a message out of the queue.
CREATE FUNCTION delete_queued(target uuid, only_owner uuid, queued bigint) RETURNS chat_change LANGUAGE plpgsql AS $$
DECLARE
    change chat_change;
    was_held boolean;
BEGIN
    change := open_transition('delete_queued', target, only_owner);
    IF change.outcome <> 'applied' THEN
        RETURN change;
    END IF;
    DELETE FROM queued_messages q WHERE q.chat_id = target AND q.id = queued
    RETURNING q.held_until IS NOT NULL INTO was_held;
    IF NOT FOUND THEN
        RETURN refused(change, 'queued_not_found', queued::text);
    END IF;
    change.queue_length := change.queue_length - (NOT was_held)::integer;
    change.held_length := change.held_length - was_held::integer;
    change.queue_version := change.snapshot_version;
    change.queued_id := queued;
    RETURN close_transition(change);
END $$;
