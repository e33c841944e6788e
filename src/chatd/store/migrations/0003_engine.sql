-- What the engine needs beside the chats: what was shown of answers that are still being written.

-- The live parts of running chats, so that they survive the process that shows them. Written once a second for all chats
-- of a replica by write_checkpoints, which does not wait for the disk: a crash of Postgres may lose the last second. The
-- table is logged all the same, since an unlogged one is emptied by such a crash and missing after a fail-over. No foreign
-- key: it would lock and write the hot rows of chat_state. What is stale is ignored, and deleted by its writer or the janitor.
CREATE TABLE chat_checkpoints (
    chat_id         uuid NOT NULL,
    history_version bigint NOT NULL,
    attempt         integer NOT NULL,
    runner_id       uuid NOT NULL,
    first_seq       integer NOT NULL, -- of the parts that were shown, joined in `parts`
    last_seq        integer NOT NULL,
    parts           text NOT NULL, -- core/stored_previews.py
    created_at      timestamptz NOT NULL DEFAULT now(),
    CONSTRAINT chat_checkpoints_pkey PRIMARY KEY (chat_id, history_version, attempt, runner_id, first_seq)
);
