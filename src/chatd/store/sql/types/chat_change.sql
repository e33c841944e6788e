-- What a transition works on and gives back: the columns of chat_state as they are after it, then what it did. When it
-- was refused (outcome is not 'applied') they are as they were, and nothing was written. When the chat is not found there
-- is nothing in it but the outcome; the queries in sql/transitions.sql give no row then.
CREATE TYPE chat_change AS (
    chat_id                     uuid,
    owner_id                    uuid,
    is_child                    boolean,
    status                      chat_status,
    archived                    boolean,
    has_open_calls              boolean,
    has_draft                   boolean,
    takeovers                   smallint,
    queue_length                integer,
    held_length                 integer,
    generation_attempt          integer,
    snapshot_version            bigint,
    history_version             bigint,
    queue_version               bigint,
    retry_version               bigint,
    replica_id                  uuid,
    runner_id                   uuid,
    last_model_config_id        uuid,
    last_reasoning_effort       reasoning_effort,
    updated_at                  timestamptz,
    requires_action_deadline_at timestamptz,
    compaction_requested_at     timestamptz,
    last_error                  jsonb,
    retry_state                 jsonb,
    host_id                     text,
    -- what happened
    transition                  text,
    outcome                     text, -- 'applied', or why not (core/outcomes.py)
    state_before                text, -- core/states.py
    state_after                 text,
    snapshot_before             bigint,
    history_before              bigint,
    happened_at                 timestamptz, -- created_at of all that it inserted
    inserted_ids                bigint[], -- of the messages that the caller gave, in their order
    added                       added_message[],
    deleted_ids                 bigint[], -- messages that people saw until an edit hid them
    queued_id                   bigint, -- the queued message that it inserted or touched
    subject                     text, -- what a refusal is about: a call's id, a file's, a chat's
    maximum                     integer, -- the limit that a refusal is about
    landings                    jsonb  -- where it may lead; NULL once it has landed
);
COMMENT ON COLUMN chat_change.chat_id IS 'not null';
COMMENT ON COLUMN chat_change.owner_id IS 'not null';
COMMENT ON COLUMN chat_change.is_child IS 'not null';
COMMENT ON COLUMN chat_change.status IS 'not null';
COMMENT ON COLUMN chat_change.archived IS 'not null';
COMMENT ON COLUMN chat_change.has_open_calls IS 'not null';
COMMENT ON COLUMN chat_change.has_draft IS 'not null';
COMMENT ON COLUMN chat_change.takeovers IS 'not null';
COMMENT ON COLUMN chat_change.queue_length IS 'not null';
COMMENT ON COLUMN chat_change.held_length IS 'not null';
COMMENT ON COLUMN chat_change.generation_attempt IS 'not null';
COMMENT ON COLUMN chat_change.snapshot_version IS 'not null';
COMMENT ON COLUMN chat_change.history_version IS 'not null';
COMMENT ON COLUMN chat_change.queue_version IS 'not null';
COMMENT ON COLUMN chat_change.retry_version IS 'not null';
COMMENT ON COLUMN chat_change.last_model_config_id IS 'not null';
COMMENT ON COLUMN chat_change.updated_at IS 'not null';
COMMENT ON COLUMN chat_change.transition IS 'not null';
COMMENT ON COLUMN chat_change.outcome IS 'not null';
COMMENT ON COLUMN chat_change.state_before IS 'not null';
COMMENT ON COLUMN chat_change.state_after IS 'not null';
COMMENT ON COLUMN chat_change.snapshot_before IS 'not null';
COMMENT ON COLUMN chat_change.history_before IS 'not null';
COMMENT ON COLUMN chat_change.happened_at IS 'not null';
