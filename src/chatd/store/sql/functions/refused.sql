-- A change that was opened and can't be carried out after all: as it was before, with the reason. Call it before anything
-- is written.
CREATE FUNCTION refused(change chat_change, why text, about text = NULL) RETURNS chat_change LANGUAGE plpgsql AS $$
BEGIN
    change.outcome := why;
    change.subject := coalesce(about, change.subject);
    change.snapshot_version := change.snapshot_before;
    change.landings := NULL;
    RETURN change;
END $$;
