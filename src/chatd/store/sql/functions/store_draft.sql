-- Makes the draft of a step a message, so that what the user saw is not lost when nobody will finish the step.
CREATE FUNCTION store_draft(change chat_change) RETURNS chat_change LANGUAGE plpgsql AS $$
DECLARE
    stored added_message;
BEGIN
    IF NOT change.has_draft THEN
        RETURN change;
    END IF;
    INSERT INTO messages (
        chat_id, created_at, revision, role, visibility, compressed, deleted, content_version, content, model_config_id,
        reasoning_effort, input_tokens, output_tokens, total_tokens, reasoning_tokens, cache_creation_tokens,
        cache_read_tokens, context_limit, cost_microdollars, runtime_ms
    )
    SELECT
        change.chat_id, change.happened_at, change.snapshot_version, 'assistant', 'both', false, false,
        d.content_version, d.content, d.model_config_id, d.reasoning_effort, d.input_tokens, d.output_tokens,
        d.total_tokens, d.reasoning_tokens, d.cache_creation_tokens, d.cache_read_tokens, d.context_limit,
        d.cost_microdollars, d.runtime_ms
    FROM chat_drafts d WHERE d.chat_id = change.chat_id
    RETURNING id, role, visibility, content, content_version, NULL, model_config_id, reasoning_effort, NULL INTO STRICT stored;
    change.added := change.added || stored;
    change.history_version := change.snapshot_version;
    change.last_model_config_id := coalesce(stored.model_config_id, change.last_model_config_id);
    change.last_reasoning_effort := coalesce(stored.reasoning_effort, change.last_reasoning_effort);
    change.has_open_calls := cardinality(local_calls(stored.content)) > 0 OR change.has_open_calls;
    RETURN change;
END $$;
