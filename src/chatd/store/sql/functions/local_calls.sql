-- The ids of the calls in an answer that we have to run: a provider answers its own.
CREATE FUNCTION local_calls(content jsonb) RETURNS text[] LANGUAGE sql IMMUTABLE AS $$
    SELECT ARRAY(
        SELECT call ->> 'tool_call_id'
        FROM jsonb_path_query(content, '$[*] ? (@.type == "tool-call" && !(@.provider_executed == true))') AS call
        WHERE call ->> 'tool_call_id' IS NOT NULL
    );
$$;
