-- A message that a transition added, or changed, by itself: the result of a call that nobody answered, a message out of
-- the queue (queued_id is its number there), a draft, a replacement that has the model of what it replaces.
CREATE TYPE added_message AS (
    id               bigint,
    role             message_role,
    visibility       message_visibility,
    content          jsonb,
    content_version  smallint,
    created_by       uuid,
    model_config_id  uuid,
    reasoning_effort reasoning_effort,
    queued_id        bigint
);
COMMENT ON COLUMN added_message.id IS 'not null';
COMMENT ON COLUMN added_message.role IS 'not null';
COMMENT ON COLUMN added_message.visibility IS 'not null';
COMMENT ON COLUMN added_message.content IS 'not null';
COMMENT ON COLUMN added_message.content_version IS 'not null';
