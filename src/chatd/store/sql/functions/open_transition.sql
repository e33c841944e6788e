-- Every transition begins here: locks the chat, then sees to it that whoever calls may do this now. The change that
-- comes back is refused already, or has the next snapshot version and waits for close_transition.
--
-- only_owner: the chat must belong to this user, else it looks missing. fence_runner and fence_history: the chat must
-- be run by this runner and its history must be the one that the runner knows; NULL asks for nothing.
CREATE FUNCTION open_transition(
    name text, target uuid, only_owner uuid, fence_runner uuid = NULL, fence_history bigint = NULL
) RETURNS chat_change LANGUAGE plpgsql AS $$
DECLARE
    change chat_change;
BEGIN
    -- All columns of chat_change, in its order: Postgres then fills the variable without looking at each. They are named,
    -- because a newer version may have added some to the table while this one still runs.
    SELECT
        s.chat_id, s.owner_id, s.is_child, s.status, s.archived, s.has_open_calls, s.has_draft, s.takeovers,
        s.queue_length, s.held_length, s.generation_attempt, s.snapshot_version, s.history_version,
        s.queue_version, s.retry_version, s.replica_id, s.runner_id, s.last_model_config_id,
        s.last_reasoning_effort, s.updated_at, s.requires_action_deadline_at, s.compaction_requested_at,
        s.last_error, s.retry_state, s.host_id,
        name, 'applied', state_of(s.status, s.archived, s.queue_length),
        state_of(s.status, s.archived, s.queue_length), s.snapshot_version, s.history_version,
        greatest(now(), s.updated_at), NULL::bigint[], NULL::added_message[], NULL::bigint[], NULL::bigint, NULL::text,
        NULL::integer, transition_table() -> name -> state_of(s.status, s.archived, s.queue_length)
    INTO change FROM chat_state s WHERE s.chat_id = target AND (only_owner IS NULL OR s.owner_id = only_owner)
    FOR NO KEY UPDATE;
    IF change.chat_id IS NULL THEN
        change.transition := name;
        change.outcome := 'not_found';
        change.state_before := 'N';
        change.state_after := 'N';
        RETURN change;
    ELSIF fence_runner IS NOT NULL AND change.runner_id IS DISTINCT FROM fence_runner THEN
        change.outcome := 'not_owner';
        RETURN change;
    ELSIF fence_history IS NOT NULL AND change.history_version <> fence_history THEN
        change.outcome := 'history_moved';
        RETURN change;
    ELSIF change.landings IS NULL THEN
        change.outcome := CASE WHEN change.state_before = 'invalid' THEN 'invalid_state' ELSE 'not_allowed' END;
        RETURN change;
    END IF;
    change.snapshot_version := change.snapshot_version + 1;
    PERFORM set_config('chatd.transition', name, true);
    RETURN change;
END $$;
