-- What the engine needs beside the chats: what was shown of answers under way, settings of turns, limits of what they cost.

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

-- How much a user's chats may cost in a period: of one user, of the members of a group, or of everyone (both NULL). Which
-- of them counts is for core/spend.py to say. NULL dollars: as much as they like.
CREATE TYPE spend_period AS ENUM ('day', 'week', 'month');
CREATE TABLE usage_limits (
    user_id      uuid CONSTRAINT usage_limits_user_id_fkey REFERENCES users (id) ON DELETE CASCADE,
    group_id     uuid CONSTRAINT usage_limits_group_id_fkey REFERENCES groups (id) ON DELETE CASCADE,
    period       spend_period NOT NULL,
    microdollars bigint,
    updated_at   timestamptz NOT NULL DEFAULT now(),
    CONSTRAINT usage_limits_key UNIQUE NULLS NOT DISTINCT (user_id, group_id, period),
    CONSTRAINT usage_limits_one_subject CHECK (user_id IS NULL OR group_id IS NULL),
    CONSTRAINT usage_limits_microdollars CHECK (microdollars >= 0)
);
CREATE INDEX usage_limits_by_group ON usage_limits (group_id) WHERE group_id IS NOT NULL;

INSERT INTO versions (area) VALUES ('usage_limits');
CREATE CONSTRAINT TRIGGER usage_limits_move_version AFTER INSERT OR UPDATE OR DELETE ON usage_limits
    DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION move_version('usage_limits');
