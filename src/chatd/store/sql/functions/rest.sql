-- What holds for every chat that stops: no owner, no deadline, no attempt, nothing asked of a runner.
CREATE FUNCTION rest(change chat_change) RETURNS chat_change LANGUAGE plpgsql AS $$
BEGIN
    change.replica_id := NULL;
    change.runner_id := NULL;
    change.takeovers := 0;
    change.updated_at := change.happened_at;
    change.requires_action_deadline_at := NULL;
    change.compaction_requested_at := NULL;
    RETURN forget_attempts(change);
END $$;
