-- The answer of a step is complete and its tools are about to run.
CREATE FUNCTION save_draft(target uuid, fence_runner uuid, fence_history bigint, draft message_row) RETURNS chat_change
LANGUAGE plpgsql AS $$
DECLARE
    change chat_change;
BEGIN
    change := open_transition('save_draft', target, NULL, fence_runner, fence_history);
    IF change.outcome <> 'applied' THEN
        RETURN change;
    END IF;
    INSERT INTO chat_drafts VALUES (
        target, change.happened_at, draft.content_version, draft.content,
        nullif(draft.model_config_id, '00000000-0000-0000-0000-000000000000'), draft.reasoning_effort, nullif(draft.input_tokens, 0), nullif(draft.output_tokens, 0),
        nullif(draft.total_tokens, 0), nullif(draft.reasoning_tokens, 0), nullif(draft.cache_creation_tokens, 0),
        nullif(draft.cache_read_tokens, 0), nullif(draft.context_limit, 0), draft.cost_microdollars,
        nullif(draft.runtime_ms, 0)
    )
    ON CONFLICT (chat_id) DO UPDATE SET
        created_at = excluded.created_at, content_version = excluded.content_version, content = excluded.content,
        model_config_id = excluded.model_config_id, reasoning_effort = excluded.reasoning_effort,
        input_tokens = excluded.input_tokens, output_tokens = excluded.output_tokens,
        total_tokens = excluded.total_tokens, reasoning_tokens = excluded.reasoning_tokens,
        cache_creation_tokens = excluded.cache_creation_tokens, cache_read_tokens = excluded.cache_read_tokens,
        context_limit = excluded.context_limit, cost_microdollars = excluded.cost_microdollars,
        runtime_ms = excluded.runtime_ms;
    change.has_draft := true;
    RETURN close_transition(change);
END $$;
