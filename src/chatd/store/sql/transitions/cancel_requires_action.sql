-- The client did not answer in time: the chat goes on with results that say so.
CREATE FUNCTION cancel_requires_action(target uuid, fence_runner uuid, fence_history bigint, reason text)
RETURNS chat_change LANGUAGE plpgsql AS $$
DECLARE
    change chat_change;
BEGIN
    change := open_transition('cancel_requires_action', target, NULL, fence_runner, fence_history);
    IF change.outcome <> 'applied' THEN
        RETURN change;
    END IF;
    RETURN close_transition(begin_turn(cancel_open_calls(change, reason, true)));
END $$;
