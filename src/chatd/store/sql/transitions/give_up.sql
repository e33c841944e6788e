-- A chat whose runners die with it is parked. What it had written is kept.
CREATE FUNCTION give_up(target uuid, error jsonb) RETURNS chat_change LANGUAGE plpgsql AS $$
DECLARE
    change chat_change;
BEGIN
    change := open_transition('give_up', target, NULL);
    IF change.outcome <> 'applied' THEN
        RETURN change;
    END IF;
    RETURN close_transition(park(store_draft(change), error));
END $$;
