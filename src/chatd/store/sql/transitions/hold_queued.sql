-- Someone edits a message that waits: it does not count until it is released, or until the time is up. Who holds it may
-- hold it longer.
CREATE FUNCTION hold_queued(target uuid, only_owner uuid, queued bigint, holder uuid, hold_for interval)
RETURNS chat_change LANGUAGE plpgsql AS $$
DECLARE
    change chat_change;
    held_by_whom uuid;
BEGIN
    change := open_transition('hold_queued', target, only_owner);
    IF change.outcome <> 'applied' THEN
        RETURN change;
    END IF;
    SELECT q.held_by INTO held_by_whom FROM queued_messages q WHERE q.chat_id = target AND q.id = queued;
    IF NOT FOUND THEN
        RETURN refused(change, 'queued_not_found', queued::text);
    ELSIF held_by_whom <> holder THEN
        RETURN refused(change, 'queued_held', queued::text);
    END IF;
    UPDATE queued_messages q SET held_by = holder, held_until = change.happened_at + hold_for
    WHERE q.chat_id = target AND q.id = queued;
    IF held_by_whom IS NULL THEN
        change.queue_length := change.queue_length - 1;
        change.held_length := change.held_length + 1;
    END IF;
    change.queue_version := change.snapshot_version;
    change.queued_id := queued;
    RETURN close_transition(change);
END $$;
