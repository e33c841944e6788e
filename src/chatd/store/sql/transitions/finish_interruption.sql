-- The user had stopped the chat. What had been written is stored (rows; with none, the draft if there is one), and the
-- turn is over.
CREATE FUNCTION finish_interruption(target uuid, fence_runner uuid, fence_history bigint, rows message_row[])
RETURNS chat_change LANGUAGE plpgsql AS $$
DECLARE
    facts message_facts := message_facts(rows);
    change chat_change;
BEGIN
    change := open_transition('finish_interruption', target, NULL, fence_runner, fence_history);
    IF change.outcome <> 'applied' THEN
        RETURN change;
    END IF;
    IF rows <> '{}' THEN
        change := insert_messages(change, rows, facts);
    ELSE
        change := store_draft(change);
    END IF;
    change := cancel_open_calls(change, 'The user interrupted this call.');
    RETURN close_transition(end_turn(change));
END $$;
