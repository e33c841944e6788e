-- The owner asks the model once more.
CREATE FUNCTION record_attempt(target uuid, fence_runner uuid, fence_history bigint) RETURNS chat_change
LANGUAGE plpgsql AS $$
DECLARE
    change chat_change;
BEGIN
    change := open_transition('record_attempt', target, NULL, fence_runner, fence_history);
    IF change.outcome <> 'applied' THEN
        RETURN change;
    END IF;
    change.generation_attempt := change.generation_attempt + 1;
    IF change.retry_state IS NOT NULL THEN
        change.retry_state := NULL;
        change.retry_version := change.snapshot_version;
    END IF;
    RETURN close_transition(change);
END $$;
