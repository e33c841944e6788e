-- Appends the caller's messages. Their ids follow their order; what a caller left at zero is not known, thus NULL, but
-- for the cost, whose zero means free.
CREATE FUNCTION insert_messages(change chat_change, rows message_row[], facts message_facts) RETURNS chat_change
LANGUAGE plpgsql AS $$
BEGIN
    WITH inserted AS (
        INSERT INTO messages (
            chat_id, created_at, revision, role, visibility, compressed, deleted, content_version, content, created_by,
            model_config_id, reasoning_effort, input_tokens, output_tokens, total_tokens, reasoning_tokens,
            cache_creation_tokens, cache_read_tokens, context_limit, cost_microdollars, runtime_ms
        )
        SELECT
            change.chat_id, change.happened_at, change.snapshot_version, row.role, coalesce(row.visibility, 'both'),
            coalesce(row.compressed, false), false, row.content_version, row.content,
            nullif(row.created_by, '00000000-0000-0000-0000-000000000000'),
            nullif(row.model_config_id, '00000000-0000-0000-0000-000000000000'),
            row.reasoning_effort, nullif(row.input_tokens, 0), nullif(row.output_tokens, 0),
            nullif(row.total_tokens, 0), nullif(row.reasoning_tokens, 0), nullif(row.cache_creation_tokens, 0),
            nullif(row.cache_read_tokens, 0), nullif(row.context_limit, 0), row.cost_microdollars,
            nullif(row.runtime_ms, 0)
        FROM unnest(rows) WITH ORDINALITY AS row
        ORDER BY row.ordinality
        RETURNING id
    )
    SELECT array_agg(id ORDER BY id) INTO change.inserted_ids FROM inserted;
    change.history_version := change.snapshot_version;
    change.last_model_config_id := coalesce(
        nullif(facts.model_config_id, '00000000-0000-0000-0000-000000000000'), change.last_model_config_id
    );
    change.last_reasoning_effort := coalesce(facts.reasoning_effort, change.last_reasoning_effort);
    IF facts.has_answer THEN
        change.has_open_calls := facts.has_open_calls;
    ELSIF change.has_open_calls THEN
        change.has_open_calls := EXISTS (SELECT FROM open_calls(change.chat_id));
    END IF;
    RETURN change;
END $$;
