-- The ids of the calls that a message has results of. A path, because it does not copy the results themselves.
CREATE FUNCTION answered_calls(content jsonb) RETURNS text[] LANGUAGE sql IMMUTABLE AS $$
    SELECT ARRAY(
        SELECT id #>> '{}' FROM jsonb_path_query(content, '$[*] ? (@.type == "tool-result").tool_call_id') AS id
        WHERE jsonb_typeof(id) = 'string'
    );
$$;
