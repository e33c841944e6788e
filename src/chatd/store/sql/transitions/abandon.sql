-- The owner lets go of a chat; another replica may take it at once.
CREATE FUNCTION abandon(target uuid, fence_runner uuid) RETURNS chat_change LANGUAGE plpgsql AS $$
DECLARE
    change chat_change;
BEGIN
    change := open_transition('abandon', target, NULL, fence_runner);
    IF change.outcome <> 'applied' THEN
        RETURN change;
    END IF;
    change.replica_id := NULL;
    change.runner_id := NULL;
    RETURN close_transition(change);
END $$;
