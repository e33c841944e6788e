-- The local calls that have no result yet, with their places: of the last answer that has any. (A later one may hold just
-- the files that its tools made.) Before the user's last message none is open.
CREATE FUNCTION open_calls(target uuid) RETURNS TABLE (call jsonb, place bigint) LANGUAGE sql STABLE AS $$
    WITH answer AS (
        SELECT m.id, m.content FROM messages m
        WHERE m.chat_id = target AND m.role = 'assistant' AND NOT m.deleted
          AND m.id > coalesce((
              SELECT u.id FROM messages u
              WHERE u.chat_id = target AND u.role = 'user' AND u.visibility <> 'model' AND NOT u.deleted
              ORDER BY u.id DESC LIMIT 1
          ), 0)
          AND m.content @? '$[*] ? (@.type == "tool-call" && !(@.provider_executed == true))'
        ORDER BY m.id DESC LIMIT 1
    ), answered AS (
        SELECT unnest(answered_calls(m.content)) AS id
        FROM answer JOIN messages m ON m.chat_id = target AND m.id >= answer.id AND NOT m.deleted
    )
    SELECT DISTINCT ON (calls.call ->> 'tool_call_id') calls.call, calls.place
    FROM answer,
        jsonb_path_query(answer.content, '$[*] ? (@.type == "tool-call" && !(@.provider_executed == true))')
        WITH ORDINALITY AS calls (call, place)
    WHERE calls.call ->> 'tool_call_id' IS NOT NULL
      AND calls.call ->> 'tool_call_id' NOT IN (SELECT answered.id FROM answered);
$$;
