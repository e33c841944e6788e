-- The user asks for the context to be summarised, in which something was answered since the last summary. No message is
-- added, yet attempts start anew.
CREATE FUNCTION request_compaction(
    target uuid, only_owner uuid, taker uuid, taker_runner uuid, root_capacity integer, child_capacity integer
) RETURNS chat_change LANGUAGE plpgsql AS $$
DECLARE
    change chat_change;
BEGIN
    change := open_transition('request_compaction', target, only_owner);
    IF change.outcome <> 'applied' THEN
        RETURN change;
    ELSIF NOT EXISTS (
        SELECT FROM messages m
        WHERE m.chat_id = target AND m.role = 'assistant' AND NOT m.compressed AND NOT m.deleted
          AND m.visibility IN ('model', 'both')
          AND m.id > coalesce((
              SELECT b.id FROM messages b
              WHERE b.chat_id = target AND b.compressed AND b.visibility = 'model' AND NOT b.deleted
              ORDER BY b.id DESC LIMIT 1
          ), 0)
    ) THEN
        RETURN refused(change, 'nothing_to_summarise');
    END IF;
    change := begin_turn(change);
    change.compaction_requested_at := change.happened_at;
    RETURN close_transition(take_ownership(change, taker, taker_runner, root_capacity, child_capacity));
END $$;
