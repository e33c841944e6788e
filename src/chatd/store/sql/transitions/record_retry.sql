-- The owner waits before it asks the model again; `retry` tells people why and until when.
CREATE FUNCTION record_retry(target uuid, fence_runner uuid, fence_history bigint, retry jsonb) RETURNS chat_change
LANGUAGE plpgsql AS $$
DECLARE
    change chat_change;
BEGIN
    change := open_transition('record_retry', target, NULL, fence_runner, fence_history);
    IF change.outcome <> 'applied' THEN
        RETURN change;
    END IF;
    IF change.retry_state IS DISTINCT FROM retry THEN
        change.retry_state := retry;
        change.retry_version := change.snapshot_version;
    END IF;
    RETURN close_transition(change);
END $$;
