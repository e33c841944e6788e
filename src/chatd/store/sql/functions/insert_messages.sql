-- Appends the caller's messages. Their ids follow their order; what a caller left at zero is not known, thus NULL, but
-- for the cost, whose zero means free.
CREATE FUNCTION insert_messages(change chat_change, rows message_row[], facts message_facts) RETURNS chat_change
LANGUAGE plpgsql AS $$
DECLARE
    nobody CONSTANT uuid := '00000000-0000-0000-0000-000000000000';
    message message_row;
    id bigint;
BEGIN
    IF cardinality(rows) = 1 THEN
        -- Most batches have one message, and VALUES takes half the time of a query over the batch.
        message := rows[1];
        INSERT INTO messages VALUES (
            change.chat_id, DEFAULT, change.happened_at, change.snapshot_version, message.role,
            coalesce(message.visibility, 'both'), coalesce(message.compressed, false), false, message.content_version,
            message.content, nullif(message.created_by, nobody), nullif(message.model_config_id, nobody),
            message.reasoning_effort, nullif(message.input_tokens, 0), nullif(message.output_tokens, 0),
            nullif(message.total_tokens, 0), nullif(message.reasoning_tokens, 0),
            nullif(message.cache_creation_tokens, 0), nullif(message.cache_read_tokens, 0),
            nullif(message.context_limit, 0), message.cost_microdollars, nullif(message.runtime_ms, 0)
        ) RETURNING messages.id INTO id;
        change.inserted_ids := ARRAY[id];
    ELSE
        WITH inserted AS (
            INSERT INTO messages (
                chat_id, created_at, revision, role, visibility, compressed, deleted, content_version, content,
                created_by, model_config_id, reasoning_effort, input_tokens, output_tokens, total_tokens,
                reasoning_tokens, cache_creation_tokens, cache_read_tokens, context_limit, cost_microdollars, runtime_ms
            )
            SELECT
                change.chat_id, change.happened_at, change.snapshot_version, row.role, coalesce(row.visibility, 'both'),
                coalesce(row.compressed, false), false, row.content_version, row.content,
                nullif(row.created_by, nobody), nullif(row.model_config_id, nobody), row.reasoning_effort,
                nullif(row.input_tokens, 0), nullif(row.output_tokens, 0), nullif(row.total_tokens, 0),
                nullif(row.reasoning_tokens, 0), nullif(row.cache_creation_tokens, 0),
                nullif(row.cache_read_tokens, 0), nullif(row.context_limit, 0), row.cost_microdollars,
                nullif(row.runtime_ms, 0)
            FROM unnest(rows) WITH ORDINALITY AS row
            ORDER BY row.ordinality
            RETURNING messages.id
        )
        SELECT array_agg(inserted.id ORDER BY inserted.id) INTO change.inserted_ids FROM inserted;
    END IF;
    change.history_version := change.snapshot_version;
    change.last_model_config_id := coalesce(nullif(facts.model_config_id, nobody), change.last_model_config_id);
    change.last_reasoning_effort := coalesce(facts.reasoning_effort, change.last_reasoning_effort);
    IF facts.has_calls THEN
        change.has_open_calls := facts.has_open_calls;
    ELSIF change.has_open_calls THEN
        change.has_open_calls := EXISTS (SELECT FROM open_calls(change.chat_id));
    END IF;
    RETURN change;
END $$;
