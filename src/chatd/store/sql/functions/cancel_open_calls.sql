-- Gives every call without a result one that says why there is none, so that a user's message never stands over an
-- unanswered call. only_dynamic: just the calls of tools that the client runs.
CREATE FUNCTION cancel_open_calls(change chat_change, reason text, only_dynamic boolean = false) RETURNS chat_change
LANGUAGE plpgsql AS $$
DECLARE
    before integer := coalesce(cardinality(change.added), 0);
BEGIN
    IF NOT change.has_open_calls THEN
        RETURN change;
    END IF;
    WITH inserted AS (
        INSERT INTO messages (
            chat_id, created_at, revision, role, visibility, compressed, deleted, content_version, content,
            model_config_id
        )
        SELECT
            change.chat_id, change.happened_at, change.snapshot_version, 'tool', 'both', false, false, 1,
            jsonb_build_array(jsonb_strip_nulls(jsonb_build_object(
                'type', 'tool-result',
                'tool_call_id', open.call -> 'tool_call_id',
                'tool_name', open.call -> 'tool_name',
                'mcp_server_config_id', open.call -> 'mcp_server_config_id',
                'result', jsonb_build_object('error', reason)::text,
                'is_error', true,
                'created_at', to_char(change.happened_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')
            ))),
            change.last_model_config_id
        FROM open_calls(change.chat_id) AS open
        WHERE NOT only_dynamic OR open.call ->> 'tool_name' IN (SELECT dynamic_tools(change.chat_id))
        ORDER BY open.place
        RETURNING *
    )
    SELECT change.added || array_agg(
        ROW(id, role, visibility, content, content_version, NULL, model_config_id, NULL, NULL)::added_message ORDER BY id
    ) INTO change.added FROM inserted;
    IF cardinality(change.added) > before THEN
        change.history_version := change.snapshot_version;
    END IF;
    change.has_open_calls := only_dynamic AND EXISTS (SELECT FROM open_calls(change.chat_id));
    RETURN change;
END $$;
