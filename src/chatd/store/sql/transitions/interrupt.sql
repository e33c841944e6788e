-- The user stops the chat: a runner stores what was written and stops. A chat that waits for its client goes on with
-- the calls cancelled.
CREATE FUNCTION interrupt(target uuid, only_owner uuid) RETURNS chat_change LANGUAGE plpgsql AS $$
DECLARE
    change chat_change;
BEGIN
    change := open_transition('interrupt', target, only_owner);
    IF change.outcome <> 'applied' THEN
        RETURN change;
    END IF;
    IF change.status = 'running' THEN
        change.status := 'interrupting';
        change.updated_at := change.happened_at;
    ELSE
        change := begin_turn(cancel_open_calls(change, 'The user interrupted this call.', true));
    END IF;
    RETURN close_transition(change);
END $$;
