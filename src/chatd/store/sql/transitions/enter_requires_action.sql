-- The last answer calls tools that the client runs: the chat waits for their results, until a deadline.
CREATE FUNCTION enter_requires_action(target uuid, fence_runner uuid, fence_history bigint, wait_for interval)
RETURNS chat_change LANGUAGE plpgsql AS $$
DECLARE
    change chat_change;
BEGIN
    change := open_transition('enter_requires_action', target, NULL, fence_runner, fence_history);
    IF change.outcome <> 'applied' THEN
        RETURN change;
    END IF;
    IF NOT EXISTS (
        SELECT FROM open_calls(target) AS open WHERE open.call ->> 'tool_name' IN (SELECT dynamic_tools(target))
    ) THEN
        RETURN refused(change, 'nothing_to_wait_for');
    END IF;
    change.status := 'requires_action';
    change.updated_at := change.happened_at;
    change.requires_action_deadline_at := change.happened_at + wait_for;
    RETURN close_transition(change);
END $$;
