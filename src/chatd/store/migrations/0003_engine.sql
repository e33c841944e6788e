-- What the engine needs beside the chats: what was shown of answers that are still being written, and settings of turns.

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

-- What a user's own turns read. The deployment's settings are in site_settings (core/turn_settings.py).
CREATE TABLE user_settings (
    user_id       uuid PRIMARY KEY CONSTRAINT user_settings_user_id_fkey REFERENCES users (id) ON DELETE CASCADE,
    custom_prompt text NOT NULL,
    updated_at    timestamptz NOT NULL DEFAULT now(),
    CONSTRAINT user_settings_custom_prompt_length CHECK (octet_length(custom_prompt) <= 131072)
);

-- From which share of a model's context on a user wants it to be summarised, instead of the model's own threshold.
CREATE TABLE user_compaction_thresholds (
    user_id           uuid NOT NULL
        CONSTRAINT user_compaction_thresholds_user_id_fkey REFERENCES users (id) ON DELETE CASCADE,
    model_config_id   uuid NOT NULL
        CONSTRAINT user_compaction_thresholds_model_config_id_fkey REFERENCES model_configs (id) ON DELETE CASCADE,
    threshold_percent integer NOT NULL,
    updated_at        timestamptz NOT NULL DEFAULT now(),
    CONSTRAINT user_compaction_thresholds_pkey PRIMARY KEY (user_id, model_config_id),
    CONSTRAINT user_compaction_thresholds_percent CHECK (threshold_percent BETWEEN 0 AND 100)
);
