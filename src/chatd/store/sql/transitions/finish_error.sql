-- The turn ends on an error that people have to look at. What had been written is stored (rows; with none, the draft if
-- there is one). Without a fence: of a chat that nobody runs.
CREATE FUNCTION finish_error(
    target uuid, fence_runner uuid, fence_history bigint, rows message_row[], error jsonb
) RETURNS chat_change LANGUAGE plpgsql AS $$
DECLARE
    facts message_facts := message_facts(rows);
    change chat_change;
BEGIN
    change := open_transition('finish_error', target, NULL, fence_runner, fence_history);
    IF change.outcome <> 'applied' THEN
        RETURN change;
    END IF;
    IF change.runner_id IS DISTINCT FROM fence_runner THEN
        RETURN refused(change, 'not_owner');
    END IF;
    IF rows <> '{}' THEN
        change := insert_messages(change, rows, facts);
    ELSE
        change := store_draft(change);
    END IF;
    RETURN close_transition(park(change, error));
END $$;
