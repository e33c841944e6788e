-- The client posts the results of the calls it has to answer: of each of them, once, and of nothing else.
CREATE FUNCTION complete_requires_action(target uuid, only_owner uuid, rows message_row[]) RETURNS chat_change
LANGUAGE plpgsql AS $$
DECLARE
    answered text[] := ARRAY(SELECT unnest(answered_calls(row.content)) FROM unnest(rows) AS row);
    facts message_facts := message_facts(rows);
    change chat_change;
    pending text[];
    wrong text;
BEGIN
    change := open_transition('complete_requires_action', target, only_owner);
    IF change.outcome <> 'applied' THEN
        RETURN change;
    END IF;
    SELECT id INTO wrong FROM unnest(answered) AS id GROUP BY id HAVING count(*) > 1 LIMIT 1;
    IF FOUND THEN
        RETURN refused(change, 'result_repeated', wrong);
    END IF;
    pending := ARRAY(
        SELECT open.call ->> 'tool_call_id' FROM open_calls(target) AS open
        WHERE open.call ->> 'tool_name' IN (SELECT dynamic_tools(target))
    );
    SELECT id INTO wrong FROM unnest(pending) AS id WHERE id <> ALL (answered) LIMIT 1;
    IF FOUND THEN
        RETURN refused(change, 'result_missing', wrong);
    END IF;
    SELECT id INTO wrong FROM unnest(answered) AS id WHERE id <> ALL (pending) LIMIT 1;
    IF FOUND THEN
        RETURN refused(change, 'result_unexpected', wrong);
    END IF;
    RETURN close_transition(begin_turn(insert_messages(change, rows, facts)));
END $$;
