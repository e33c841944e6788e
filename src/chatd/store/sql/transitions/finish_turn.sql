-- The turn is over without a further step.
CREATE FUNCTION finish_turn(target uuid, fence_runner uuid, fence_history bigint) RETURNS chat_change
LANGUAGE plpgsql AS $$
DECLARE
    change chat_change;
BEGIN
    change := open_transition('finish_turn', target, NULL, fence_runner, fence_history);
    IF change.outcome <> 'applied' THEN
        RETURN change;
    END IF;
    RETURN close_transition(end_turn(change));
END $$;
