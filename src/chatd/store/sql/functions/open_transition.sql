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
    SELECT * INTO change FROM chat_state s WHERE s.chat_id = target FOR NO KEY UPDATE;
    change.transition := name;
    change.happened_at := now();
    IF change.chat_id IS NULL OR change.owner_id <> only_owner THEN
        change := NULL; -- nothing of it may be seen
        change.transition := name;
        change.outcome := 'not_found';
        change.state_before := 'N';
        change.state_after := 'N';
        RETURN change;
    END IF;
    change.state_before := state_of(change.status, change.archived, change.queue_length);
    change.state_after := change.state_before;
    change.snapshot_before := change.snapshot_version;
    change.history_before := change.history_version;
    IF change.runner_id IS DISTINCT FROM coalesce(fence_runner, change.runner_id) THEN
        change.outcome := 'not_owner';
        RETURN change;
    ELSIF change.history_version <> fence_history THEN
        change.outcome := 'history_moved';
        RETURN change;
    END IF;
    change.landings := transition_table() -> name -> change.state_before;
    IF change.landings IS NULL THEN
        change.outcome := CASE WHEN change.state_before = 'invalid' THEN 'invalid_state' ELSE 'not_allowed' END;
        RETURN change;
    END IF;
    change.outcome := 'applied';
    change.snapshot_version := change.snapshot_version + 1;
    PERFORM set_config('chatd.transition', name, true);
    RETURN change;
END $$;
