-- The user asks for the context to be summarised. No message is added, yet attempts start anew.
CREATE FUNCTION request_compaction(
    target uuid, only_owner uuid, taker uuid, taker_runner uuid, root_capacity integer, child_capacity integer
) RETURNS chat_change LANGUAGE plpgsql AS $$
DECLARE
    change chat_change;
BEGIN
    change := open_transition('request_compaction', target, only_owner);
    IF change.outcome <> 'applied' THEN
        RETURN change;
    END IF;
    change := begin_turn(change);
    change.compaction_requested_at := change.happened_at;
    RETURN close_transition(take_ownership(change, taker, taker_runner, root_capacity, child_capacity));
END $$;
