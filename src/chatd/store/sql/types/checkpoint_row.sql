-- What a chat has shown since its last checkpoint, as a replica gives it to write_checkpoints.
CREATE TYPE checkpoint_row AS (
    chat_id         uuid,
    history_version bigint,
    attempt         integer,
    first_seq       integer,
    last_seq        integer,
    parts           text
);
COMMENT ON COLUMN checkpoint_row.chat_id IS 'not null';
COMMENT ON COLUMN checkpoint_row.history_version IS 'not null';
COMMENT ON COLUMN checkpoint_row.attempt IS 'not null';
COMMENT ON COLUMN checkpoint_row.first_seq IS 'not null';
COMMENT ON COLUMN checkpoint_row.last_seq IS 'not null';
COMMENT ON COLUMN checkpoint_row.parts IS 'not null';
