-- Every transition that was not refused ends here: the one UPDATE, and the proof that it led where the table says.
CREATE FUNCTION close_transition(change chat_change) RETURNS chat_change LANGUAGE plpgsql AS $$
BEGIN
    change.state_after := state_of(change.status, change.archived, change.queue_length);
    IF (change.landings ? change.state_after) IS NOT TRUE
        OR change.snapshot_version <> change.snapshot_before + 1
        OR change.history_version NOT IN (change.history_before, change.snapshot_version)
        OR change.queue_version > change.snapshot_version
        OR change.retry_version > change.snapshot_version
        OR change.queue_length < 0
        OR (change.replica_id IS NULL) <> (change.runner_id IS NULL)
        OR (change.last_error IS NOT NULL AND change.status <> 'error')
        OR (change.requires_action_deadline_at IS NOT NULL) <> (change.status = 'requires_action')
        OR change.held_length < 0
    THEN
        RAISE EXCEPTION '% of chat % led from % (%) to % (%), queue % and %, versions % % % %',
            change.transition, change.chat_id, change.state_before, change.snapshot_before, change.state_after,
            change.status, change.queue_length, change.held_length, change.snapshot_version, change.history_version,
            change.queue_version, change.retry_version
            USING ERRCODE = 'integrity_constraint_violation';
    END IF;
    UPDATE chat_state SET
        status = change.status,
        archived = change.archived,
        has_open_calls = change.has_open_calls,
        has_draft = change.has_draft,
        takeovers = change.takeovers,
        queue_length = change.queue_length,
        held_length = change.held_length,
        generation_attempt = change.generation_attempt,
        snapshot_version = change.snapshot_version,
        history_version = change.history_version,
        queue_version = change.queue_version,
        retry_version = change.retry_version,
        replica_id = change.replica_id,
        runner_id = change.runner_id,
        last_model_config_id = change.last_model_config_id,
        last_reasoning_effort = change.last_reasoning_effort,
        updated_at = change.updated_at,
        requires_action_deadline_at = change.requires_action_deadline_at,
        compaction_requested_at = change.compaction_requested_at,
        last_error = change.last_error,
        retry_state = change.retry_state,
        host_id = change.host_id
    WHERE chat_id = change.chat_id;
    change.landings := NULL;
    RETURN change;
END $$;
