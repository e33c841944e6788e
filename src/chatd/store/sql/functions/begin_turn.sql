-- What holds for every chat that starts to run over a new history: no error, no deadline, no attempt, no draft.
CREATE FUNCTION begin_turn(change chat_change) RETURNS chat_change LANGUAGE plpgsql AS $$
BEGIN
    change.status := 'running';
    change.updated_at := change.happened_at;
    change.last_error := NULL;
    change.requires_action_deadline_at := NULL;
    change.compaction_requested_at := NULL;
    change.history_version := change.snapshot_version;
    change.takeovers := 0;
    RETURN forget_attempts(change);
END $$;
