-- Chats: what is stored of them, and the narrow row that decides what happens next.

-- Those that a worker acts on are the more urgent the later they stand here.
CREATE TYPE chat_status AS ENUM ('waiting', 'running', 'error', 'requires_action', 'interrupting');
CREATE TYPE message_role AS ENUM ('system', 'user', 'assistant', 'tool');
CREATE TYPE message_visibility AS ENUM ('user', 'model', 'both');
CREATE TYPE chat_mode AS ENUM ('computer_use', 'explore');
CREATE TYPE chat_client AS ENUM ('ui', 'api');
CREATE TYPE reasoning_effort AS ENUM ('none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max');

-- Model vendors and how to reach them.
CREATE TABLE providers (
    id           uuid PRIMARY KEY,
    name         text NOT NULL,
    kind         text NOT NULL,
    display_name text NOT NULL DEFAULT '',
    base_url     text NOT NULL DEFAULT '',
    api_key      encrypted_text,
    options      jsonb NOT NULL DEFAULT '{}',
    enabled      boolean NOT NULL DEFAULT true,
    deleted      boolean NOT NULL DEFAULT false,
    created_at   timestamptz NOT NULL DEFAULT now(),
    updated_at   timestamptz NOT NULL DEFAULT now(),
    CONSTRAINT providers_name_shape CHECK (name ~ '^[a-zA-Z0-9]([a-zA-Z0-9_.-]{0,62}[a-zA-Z0-9])?$'),
    CONSTRAINT providers_kind CHECK (
        kind IN ('anthropic', 'openai', 'azure', 'bedrock', 'google', 'vertex', 'openai-compat', 'openrouter', 'vercel')
    ),
    CONSTRAINT providers_display_name_length CHECK (char_length(display_name) <= 128),
    CONSTRAINT providers_base_url_length CHECK (char_length(base_url) <= 2048),
    CONSTRAINT providers_options_is_object CHECK (jsonb_typeof(options) = 'object')
);
CREATE UNIQUE INDEX providers_name_key ON providers (lower(name)) WHERE NOT deleted;

-- Prices are dollars per million tokens; NULL = not known, 0 = free (core/cost.py).
CREATE TABLE model_configs (
    id                    uuid PRIMARY KEY,
    provider_id           uuid NOT NULL CONSTRAINT model_configs_provider_id_fkey REFERENCES providers (id),
    model                 text NOT NULL,
    display_name          text NOT NULL DEFAULT '',
    enabled               boolean NOT NULL DEFAULT true,
    is_default            boolean NOT NULL DEFAULT false,
    context_limit         bigint NOT NULL,
    compression_threshold integer NOT NULL DEFAULT 70,
    options               jsonb NOT NULL DEFAULT '{}',
    input_price           numeric(20, 10),
    output_price          numeric(20, 10),
    cache_read_price      numeric(20, 10),
    cache_write_price     numeric(20, 10),
    deleted               boolean NOT NULL DEFAULT false,
    created_at            timestamptz NOT NULL DEFAULT now(),
    updated_at            timestamptz NOT NULL DEFAULT now(),
    CONSTRAINT model_configs_model_length CHECK (char_length(model) BETWEEN 1 AND 256),
    CONSTRAINT model_configs_display_name_length CHECK (char_length(display_name) <= 128),
    CONSTRAINT model_configs_context_limit CHECK (context_limit > 0),
    CONSTRAINT model_configs_compression_threshold CHECK (compression_threshold BETWEEN 0 AND 100),
    CONSTRAINT model_configs_options_is_object CHECK (jsonb_typeof(options) = 'object'),
    CONSTRAINT model_configs_input_price CHECK (input_price >= 0),
    CONSTRAINT model_configs_output_price CHECK (output_price >= 0),
    CONSTRAINT model_configs_cache_read_price CHECK (cache_read_price >= 0),
    CONSTRAINT model_configs_cache_write_price CHECK (cache_write_price >= 0)
);
CREATE UNIQUE INDEX model_configs_one_default ON model_configs (is_default) WHERE is_default AND NOT deleted;
CREATE INDEX model_configs_by_provider ON model_configs (provider_id);

INSERT INTO versions (area) VALUES ('models');
CREATE CONSTRAINT TRIGGER providers_move_version AFTER INSERT OR UPDATE OR DELETE ON providers
    DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION move_version('models');
CREATE CONSTRAINT TRIGGER model_configs_move_version AFTER INSERT OR UPDATE OR DELETE ON model_configs
    DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION move_version('models');

-- Processes that run chats. One heartbeat stands for all chats of a replica; a replica's id is new at every start.
CREATE TABLE replicas (
    id            uuid PRIMARY KEY,
    url           text NOT NULL,
    host          text NOT NULL,
    pid           integer NOT NULL,
    version       text NOT NULL,
    started_at    timestamptz NOT NULL DEFAULT now(),
    beating_since timestamptz NOT NULL, -- without a gap as long as a lease
    heartbeat_at  timestamptz NOT NULL
) WITH (fillfactor = 50);

-- What people see and set. What moves with a turn is in chat_state.
CREATE TABLE chats (
    id                   uuid PRIMARY KEY,
    organization_id      uuid NOT NULL CONSTRAINT chats_organization_id_fkey REFERENCES organizations (id),
    owner_id             uuid NOT NULL CONSTRAINT chats_owner_id_fkey REFERENCES users (id),
    parent_chat_id       uuid CONSTRAINT chats_parent_chat_id_fkey REFERENCES chats (id) ON DELETE CASCADE,
    root_chat_id         uuid CONSTRAINT chats_root_chat_id_fkey REFERENCES chats (id) ON DELETE CASCADE,
    title                text NOT NULL DEFAULT 'New chat',
    labels               jsonb NOT NULL DEFAULT '{}',
    mode                 chat_mode,
    plan_mode            boolean NOT NULL DEFAULT false,
    client               chat_client NOT NULL DEFAULT 'api',
    mcp_server_ids       uuid[] NOT NULL DEFAULT '{}',
    dynamic_tools        jsonb NOT NULL DEFAULT '[]', -- tools that the client runs: [{"name": …, …}]
    pin_order            integer NOT NULL DEFAULT 0, -- 0 = not pinned
    last_read_message_id bigint NOT NULL DEFAULT 0,
    last_turn_summary    text,
    summary              text,
    summary_generated_at timestamptz,
    created_at           timestamptz NOT NULL DEFAULT now(),
    CONSTRAINT chats_title_length CHECK (char_length(title) BETWEEN 1 AND 200),
    CONSTRAINT chats_labels_is_object CHECK (jsonb_typeof(labels) = 'object'),
    CONSTRAINT chats_dynamic_tools_is_list CHECK (jsonb_typeof(dynamic_tools) = 'array'),
    CONSTRAINT chats_family CHECK ((parent_chat_id IS NULL) = (root_chat_id IS NULL)),
    CONSTRAINT chats_pin_order CHECK (pin_order >= 0),
    CONSTRAINT chats_pinned_is_root CHECK (pin_order = 0 OR parent_chat_id IS NULL)
);
CREATE INDEX chats_by_owner ON chats (owner_id);
CREATE INDEX chats_by_root ON chats (root_chat_id) WHERE root_chat_id IS NOT NULL;
CREATE INDEX chats_by_parent ON chats (parent_chat_id) WHERE parent_chat_id IS NOT NULL;
CREATE INDEX chats_pinned ON chats (owner_id, pin_order) WHERE pin_order > 0;
CREATE INDEX chats_by_label ON chats USING gin (labels jsonb_path_ops);

-- The hot row: small, updated by every transition and by nothing else (sql/transitions). The state of a chat is derived
-- from status, archived and queue_length (core/states.py). owner_id and is_child are copies that never change.
CREATE TABLE chat_state (
    chat_id                     uuid PRIMARY KEY CONSTRAINT chat_state_chat_id_fkey REFERENCES chats (id) ON DELETE CASCADE,
    owner_id                    uuid NOT NULL,
    is_child                    boolean NOT NULL,
    status                      chat_status NOT NULL,
    archived                    boolean NOT NULL,
    has_open_calls              boolean NOT NULL, -- a local tool was called and has not answered
    has_draft                   boolean NOT NULL,
    takeovers                   smallint NOT NULL, -- since the last commit
    queue_length                integer NOT NULL, -- of messages that nobody holds
    held_length                 integer NOT NULL,
    generation_attempt          integer NOT NULL, -- since the history last changed
    snapshot_version            bigint NOT NULL, -- moves with every transition
    history_version             bigint NOT NULL, -- the snapshot at which messages last changed
    queue_version               bigint NOT NULL,
    retry_version               bigint NOT NULL,
    replica_id                  uuid, -- who runs it; both or neither. No foreign key: it would lock the replica's row
    runner_id                   uuid, -- new with every change of owner
    last_model_config_id        uuid NOT NULL,
    last_reasoning_effort       reasoning_effort,
    updated_at                  timestamptz NOT NULL, -- when the status last changed or a turn began
    requires_action_deadline_at timestamptz,
    compaction_requested_at     timestamptz,
    last_error                  jsonb,
    retry_state                 jsonb
) WITH (
    fillfactor = 50, -- room for the next version of a row beside it
    autovacuum_vacuum_scale_factor = 0.02
);
CREATE INDEX chat_state_by_owner ON chat_state (owner_id, archived, updated_at DESC, chat_id DESC) WHERE NOT is_child;
CREATE INDEX chat_state_owned_by ON chat_state (replica_id) WHERE replica_id IS NOT NULL;
CREATE INDEX chat_state_free ON chat_state (is_child, status DESC, updated_at)
    WHERE replica_id IS NULL AND NOT archived AND status IN ('running', 'interrupting', 'requires_action');

-- Chats are written by transitions only, which say so (`chatd.transition`), and close_transition sees to it that versions
-- and columns fit together. One assertion per statement and no CHECKs on these tables: Postgres reads the text of a CHECK,
-- or of a trigger's WHEN, anew for every statement, which here would cost more than the writes themselves.
CREATE FUNCTION assert_transition() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF current_setting('chatd.transition', true) <> '' THEN
        RETURN NULL;
    END IF;
    RAISE EXCEPTION '% of % outside of a transition', TG_OP, TG_TABLE_NAME
        USING ERRCODE = 'integrity_constraint_violation';
END $$;
CREATE TRIGGER chat_state_written BEFORE INSERT OR UPDATE ON chat_state
    FOR EACH STATEMENT EXECUTE FUNCTION assert_transition();

-- Never deleted but with the whole chat: `deleted` hides a row, and its cost still counts. model_config_id and
-- created_by have no foreign keys: thousands of chats name the same few rows, and every insert would lock them.
CREATE TABLE messages (
    chat_id               uuid NOT NULL CONSTRAINT messages_chat_id_fkey REFERENCES chat_state (chat_id) ON DELETE CASCADE,
    id                    bigint GENERATED BY DEFAULT AS IDENTITY,
    created_at            timestamptz NOT NULL DEFAULT now(),
    revision              bigint NOT NULL, -- the snapshot at which it was inserted or deleted
    role                  message_role NOT NULL,
    visibility            message_visibility NOT NULL,
    compressed            boolean NOT NULL,
    deleted               boolean NOT NULL,
    content_version       smallint NOT NULL,
    content               jsonb NOT NULL,
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
    cost_microdollars     bigint, -- NULL = not known, 0 = free
    runtime_ms            bigint,
    CONSTRAINT messages_pkey PRIMARY KEY (chat_id, id)
);
-- Where a prompt begins: the newest summary.
CREATE INDEX messages_boundary ON messages (chat_id, id DESC)
    WHERE compressed AND visibility = 'model' AND NOT deleted;
-- What stands before every prompt, wherever it begins.
CREATE INDEX messages_system ON messages (chat_id, id) WHERE role = 'system' AND NOT deleted;
-- Rows arrive in order of time, so a block range index finds a period at almost no cost to writers.
CREATE INDEX messages_by_time ON messages USING brin (created_at) WITH (pages_per_range = 32, autosummarize = on);

CREATE TRIGGER messages_written BEFORE INSERT OR UPDATE ON messages
    FOR EACH STATEMENT EXECUTE FUNCTION assert_transition();
-- A row changes once: when an edit hides it.
CREATE FUNCTION assert_hidden() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF OLD.deleted OR NOT NEW.deleted OR NEW.revision <= OLD.revision
        OR (OLD.chat_id, OLD.id, OLD.created_at, OLD.role, OLD.visibility, OLD.compressed, OLD.content_version,
            OLD.created_by, OLD.model_config_id, OLD.reasoning_effort, OLD.input_tokens, OLD.output_tokens,
            OLD.total_tokens, OLD.reasoning_tokens, OLD.cache_creation_tokens, OLD.cache_read_tokens,
            OLD.context_limit, OLD.cost_microdollars, OLD.runtime_ms, OLD.content)
        IS DISTINCT FROM
           (NEW.chat_id, NEW.id, NEW.created_at, NEW.role, NEW.visibility, NEW.compressed, NEW.content_version,
            NEW.created_by, NEW.model_config_id, NEW.reasoning_effort, NEW.input_tokens, NEW.output_tokens,
            NEW.total_tokens, NEW.reasoning_tokens, NEW.cache_creation_tokens, NEW.cache_read_tokens,
            NEW.context_limit, NEW.cost_microdollars, NEW.runtime_ms, NEW.content)
    THEN
        RAISE EXCEPTION 'messages never change, they are only hidden' USING ERRCODE = 'integrity_constraint_violation';
    END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER messages_hidden BEFORE UPDATE ON messages FOR EACH ROW EXECUTE FUNCTION assert_hidden();

CREATE FUNCTION refuse_delete() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    -- A whole chat takes its messages with it; its own row is gone by then.
    IF EXISTS (SELECT FROM chat_state WHERE chat_id = OLD.chat_id) THEN
        RAISE EXCEPTION 'messages are never deleted, only hidden' USING ERRCODE = 'integrity_constraint_violation';
    END IF;
    RETURN OLD;
END $$;
CREATE TRIGGER messages_deleted BEFORE DELETE ON messages FOR EACH ROW EXECUTE FUNCTION refuse_delete();

-- Messages that wait for the turn to end, in order of position. A held one is being edited: it does not count until it
-- is released, by its editor or when its time is up.
CREATE TABLE queued_messages (
    chat_id          uuid NOT NULL CONSTRAINT queued_messages_chat_id_fkey REFERENCES chat_state (chat_id) ON DELETE CASCADE,
    id               bigint GENERATED BY DEFAULT AS IDENTITY,
    created_at       timestamptz NOT NULL DEFAULT now(),
    position         bigint NOT NULL,
    content_version  smallint NOT NULL,
    content          jsonb NOT NULL,
    created_by       uuid NOT NULL,
    model_config_id  uuid,
    reasoning_effort reasoning_effort,
    held_by          uuid,
    held_until       timestamptz,
    CONSTRAINT queued_messages_pkey PRIMARY KEY (chat_id, id),
    CONSTRAINT queued_messages_held CHECK ((held_by IS NULL) = (held_until IS NULL))
);
CREATE INDEX queued_messages_held_until ON queued_messages (held_until) WHERE held_until IS NOT NULL;
CREATE TRIGGER queued_messages_written BEFORE INSERT OR UPDATE ON queued_messages
    FOR EACH STATEMENT EXECUTE FUNCTION assert_transition();

-- The finished answer of a step whose tools still run: who takes the chat over settles its calls instead of asking again.
CREATE TABLE chat_drafts (
    chat_id               uuid PRIMARY KEY CONSTRAINT chat_drafts_chat_id_fkey REFERENCES chat_state (chat_id) ON DELETE CASCADE,
    created_at            timestamptz NOT NULL DEFAULT now(),
    content_version       smallint NOT NULL,
    content               jsonb NOT NULL,
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
) WITH (fillfactor = 50);

CREATE TABLE files (
    id              uuid PRIMARY KEY,
    organization_id uuid NOT NULL CONSTRAINT files_organization_id_fkey REFERENCES organizations (id),
    owner_id        uuid NOT NULL CONSTRAINT files_owner_id_fkey REFERENCES users (id),
    name            text NOT NULL,
    media_type      text NOT NULL,
    size            bigint NOT NULL,
    sha256          bytea NOT NULL,
    data            bytea NOT NULL,
    created_at      timestamptz NOT NULL DEFAULT now(),
    CONSTRAINT files_name_length CHECK (octet_length(name) BETWEEN 1 AND 255),
    CONSTRAINT files_size CHECK (size = octet_length(data)),
    CONSTRAINT files_sha256_length CHECK (octet_length(sha256) = 32)
);
ALTER TABLE files ALTER COLUMN data SET STORAGE EXTERNAL; -- images and archives are compressed already
CREATE INDEX files_by_owner ON files (owner_id);
CREATE INDEX files_by_time ON files (created_at);

CREATE TABLE chat_files (
    chat_id    uuid NOT NULL CONSTRAINT chat_files_chat_id_fkey REFERENCES chat_state (chat_id) ON DELETE CASCADE,
    file_id    uuid NOT NULL CONSTRAINT chat_files_file_id_fkey REFERENCES files (id) ON DELETE CASCADE,
    created_at timestamptz NOT NULL DEFAULT now(),
    CONSTRAINT chat_files_pkey PRIMARY KEY (chat_id, file_id)
);
CREATE INDEX chat_files_by_file ON chat_files (file_id);
