-- A message as a caller gives it to a transition.
CREATE TYPE message_row AS (
    role                  message_role,
    content               jsonb,
    content_version       smallint,
    visibility            message_visibility, -- NULL = both
    compressed            boolean, -- NULL = false
    created_by            uuid,
    model_config_id       uuid,
    reasoning_effort      reasoning_effort,
    input_tokens          bigint,
    output_tokens         bigint,
    total_tokens          bigint,
    reasoning_tokens      bigint,
    cache_creation_tokens bigint,
    cache_read_tokens     bigint,
    context_limit         bigint,
    cost_microdollars     bigint,
    runtime_ms            bigint
);
COMMENT ON COLUMN message_row.role IS 'not null';
COMMENT ON COLUMN message_row.content IS 'not null';
COMMENT ON COLUMN message_row.content_version IS 'not null';
