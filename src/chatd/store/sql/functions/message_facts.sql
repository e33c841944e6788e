CREATE FUNCTION message_facts(rows message_row[]) RETURNS message_facts LANGUAGE plpgsql IMMUTABLE AS $$
DECLARE
    facts message_facts;
    message message_row;
    last_calls integer; -- the last message that calls local tools
    at integer := 0;
BEGIN
    facts.has_open_calls := false;
    FOREACH message IN ARRAY rows LOOP
        at := at + 1;
        IF message.role = 'assistant'
            AND message.content @? '$[*] ? (@.type == "tool-call" && !(@.provider_executed == true))'
        THEN
            last_calls := at;
        END IF;
        IF message.model_config_id <> '00000000-0000-0000-0000-000000000000' THEN
            facts.model_config_id := message.model_config_id;
        END IF;
        facts.reasoning_effort := coalesce(message.reasoning_effort, facts.reasoning_effort);
    END LOOP;
    facts.has_calls := last_calls IS NOT NULL;
    IF facts.has_calls THEN
        facts.has_open_calls := NOT local_calls(rows[last_calls].content) <@ (
            SELECT coalesce(array_agg(answer), '{}')
            FROM unnest(rows[last_calls:]) AS later, unnest(answered_calls(later.content)) AS answer
        );
    END IF;
    RETURN facts;
END $$;
