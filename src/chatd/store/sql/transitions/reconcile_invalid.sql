-- The way out of a state that no transition leads to: parked on an error, open, with its queue.
CREATE FUNCTION reconcile_invalid(target uuid, only_owner uuid, error jsonb) RETURNS chat_change LANGUAGE plpgsql AS $$
DECLARE
    change chat_change;
BEGIN
    change := open_transition('reconcile_invalid', target, only_owner);
    IF change.outcome <> 'applied' THEN
        RETURN change;
    END IF;
    change.has_open_calls := true; -- who knows: park looks
    change.archived := false;
    RETURN close_transition(park(change, error));
END $$;
