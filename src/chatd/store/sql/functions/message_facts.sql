CREATE FUNCTION message_facts(rows message_row[]) RETURNS message_facts LANGUAGE plpgsql IMMUTABLE AS $$
DECLARE
    facts message_facts;
    message message_row;
    last_answer integer;
    at integer := 0;
BEGIN
    facts.has_open_calls := false;
    FOREACH message IN ARRAY rows LOOP
        at := at + 1;
        IF message.role = 'assistant' THEN
            last_answer := at;
        END IF;
        IF message.model_config_id <> '00000000-0000-0000-0000-000000000000' THEN
            facts.model_config_id := message.model_config_id;
        END IF;
        facts.reasoning_effort := coalesce(message.reasoning_effort, facts.reasoning_effort);
    END LOOP;
    facts.has_answer := last_answer IS NOT NULL;
    IF facts.has_answer AND rows[last_answer].content @? '$[*] ? (@.type == "tool-call")' THEN
        facts.has_open_calls := NOT local_calls(rows[last_answer].content) <@ (
            SELECT coalesce(array_agg(answer), '{}')
            FROM unnest(rows[last_answer:]) AS later, unnest(answered_calls(later.content)) AS answer
        );
    END IF;
    RETURN facts;
END $$;
