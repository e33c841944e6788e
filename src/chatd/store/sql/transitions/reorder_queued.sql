-- Gives the queue a new order: the ids of all its messages, first to last.
CREATE FUNCTION reorder_queued(target uuid, only_owner uuid, queued_ids bigint[]) RETURNS chat_change
LANGUAGE plpgsql AS $$
DECLARE
    change chat_change;
BEGIN
    change := open_transition('reorder_queued', target, only_owner);
    IF change.outcome <> 'applied' THEN
        RETURN change;
    END IF;
    IF ARRAY(SELECT q.id FROM queued_messages q WHERE q.chat_id = target ORDER BY q.id)
        <> ARRAY(SELECT id FROM unnest(queued_ids) AS id ORDER BY id)
    THEN
        RETURN refused(change, 'queue_changed');
    END IF;
    IF ARRAY(SELECT q.id FROM queued_messages q WHERE q.chat_id = target ORDER BY q.position, q.id) <> queued_ids THEN
        UPDATE queued_messages q SET position = wanted.place
        FROM unnest(queued_ids) WITH ORDINALITY AS wanted (id, place)
        WHERE q.chat_id = target AND q.id = wanted.id;
        change.queue_version := change.snapshot_version;
    END IF;
    RETURN close_transition(change);
END $$;
