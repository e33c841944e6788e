-- The history has changed: attempts, retry and draft were about the old one.
CREATE FUNCTION forget_attempts(change chat_change) RETURNS chat_change LANGUAGE plpgsql AS $$
BEGIN
    change.generation_attempt := 0;
    IF change.retry_state IS NOT NULL THEN
        change.retry_state := NULL;
        change.retry_version := change.snapshot_version;
    END IF;
    IF change.has_draft THEN
        DELETE FROM chat_drafts d WHERE d.chat_id = change.chat_id;
        change.has_draft := false;
    END IF;
    RETURN change;
END $$;
