-- Where tools run: templates, workspaces and their builds; which chat works in which; what is known of its repository.

CREATE TYPE provisioner_kind AS ENUM ('local', 'docker');
CREATE TYPE build_transition AS ENUM ('start', 'stop', 'delete');
CREATE TYPE build_status AS ENUM ('pending', 'running', 'succeeded', 'failed', 'cancelled');
CREATE TYPE build_reason AS ENUM ('initiator', 'chat', 'autostop', 'recovery');
CREATE TYPE git_provider_kind AS ENUM ('github', 'gitlab');

-- Machines that replicas run on. A local workspace lives on one of them. Apart from replicas, whose rows go when they
-- stop: that a machine was there a minute ago is remembered. Moved by heartbeats, at most every few seconds.
CREATE TABLE hosts (
    id      text PRIMARY KEY,
    seen_at timestamptz NOT NULL,
    CONSTRAINT hosts_id_length CHECK (char_length(id) BETWEEN 1 AND 64)
);
ALTER TABLE replicas ADD COLUMN host_id text; -- NULL: of a version that knows no hosts

-- Times are milliseconds; 0 = never, or none.
CREATE TABLE templates (
    id                   uuid PRIMARY KEY,
    organization_id      uuid NOT NULL CONSTRAINT templates_organization_id_fkey REFERENCES organizations (id),
    name                 text NOT NULL,
    display_name         text NOT NULL DEFAULT '',
    description          text NOT NULL DEFAULT '',
    icon                 text NOT NULL DEFAULT '',
    readme               text NOT NULL DEFAULT '',
    provisioner          provisioner_kind NOT NULL,
    config               jsonb NOT NULL DEFAULT '{}', -- the provisioner's
    parameters           jsonb NOT NULL DEFAULT '[]', -- core/workspaces/parameters.py
    agents_allowed       boolean NOT NULL DEFAULT true, -- models may make workspaces of it
    allows_user_autostop boolean NOT NULL DEFAULT true, -- false: default_ttl_ms wins over everything
    default_ttl_ms       bigint NOT NULL DEFAULT 0,
    activity_bump_ms     bigint NOT NULL DEFAULT 3600000,
    max_lifetime_ms      bigint NOT NULL DEFAULT 0, -- of one start
    deprecated           text NOT NULL DEFAULT '', -- why, and what to take instead
    deleted              boolean NOT NULL DEFAULT false,
    created_by           uuid CONSTRAINT templates_created_by_fkey REFERENCES users (id),
    created_at           timestamptz NOT NULL DEFAULT now(),
    updated_at           timestamptz NOT NULL DEFAULT now(),
    CONSTRAINT templates_name_shape CHECK (name ~ '^[a-z0-9]([a-z0-9-]{0,30}[a-z0-9])?$'),
    CONSTRAINT templates_display_name_length CHECK (char_length(display_name) <= 128),
    CONSTRAINT templates_description_length CHECK (char_length(description) <= 1024),
    CONSTRAINT templates_icon_length CHECK (char_length(icon) <= 256),
    CONSTRAINT templates_readme_length CHECK (octet_length(readme) <= 65536),
    CONSTRAINT templates_config_is_object CHECK (jsonb_typeof(config) = 'object'),
    CONSTRAINT templates_parameters_is_list CHECK (jsonb_typeof(parameters) = 'array'),
    CONSTRAINT templates_default_ttl CHECK (default_ttl_ms >= 0),
    CONSTRAINT templates_activity_bump CHECK (activity_bump_ms >= 0),
    CONSTRAINT templates_max_lifetime CHECK (max_lifetime_ms >= 0),
    CONSTRAINT templates_deprecated_length CHECK (char_length(deprecated) <= 1024)
);
CREATE UNIQUE INDEX templates_name_key ON templates (organization_id, name) WHERE NOT deleted;

-- What the latest build made of it is in workspace_builds (build_number). agent_address is there while it runs, and so is
-- the deadline, unless it may run for ever. A deleted one stays: chats name it.
CREATE TABLE workspaces (
    id              uuid PRIMARY KEY,
    organization_id uuid NOT NULL CONSTRAINT workspaces_organization_id_fkey REFERENCES organizations (id),
    owner_id        uuid NOT NULL CONSTRAINT workspaces_owner_id_fkey REFERENCES users (id),
    template_id     uuid NOT NULL CONSTRAINT workspaces_template_id_fkey REFERENCES templates (id),
    name            text NOT NULL,
    host_id         text, -- the only machine that can reach its agent; NULL: every one can
    parameters      jsonb NOT NULL DEFAULT '{}', -- values by name, without the ephemeral ones
    agent_token     encrypted_text NOT NULL,
    agent_address   text,
    ttl_ms          bigint, -- NULL = the template's, 0 = never
    deadline        timestamptz,
    max_deadline    timestamptz,
    last_used_at    timestamptz NOT NULL DEFAULT now(),
    build_number    integer NOT NULL,
    deleted         boolean NOT NULL DEFAULT false,
    created_at      timestamptz NOT NULL DEFAULT now(),
    updated_at      timestamptz NOT NULL DEFAULT now(),
    CONSTRAINT workspaces_name_shape CHECK (name ~ '^[a-z0-9]([a-z0-9-]{0,30}[a-z0-9])?$'),
    CONSTRAINT workspaces_parameters_is_object CHECK (jsonb_typeof(parameters) = 'object'),
    CONSTRAINT workspaces_ttl CHECK (ttl_ms >= 0)
) WITH (fillfactor = 80);
CREATE UNIQUE INDEX workspaces_name_key ON workspaces (owner_id, name) WHERE NOT deleted;
CREATE INDEX workspaces_by_owner ON workspaces (owner_id, id);
CREATE INDEX workspaces_by_template ON workspaces (template_id);
CREATE INDEX workspaces_by_deadline ON workspaces (deadline) WHERE deadline IS NOT NULL AND NOT deleted;
CREATE INDEX workspaces_by_host ON workspaces (host_id) WHERE agent_address IS NOT NULL AND NOT deleted;

CREATE TABLE workspace_builds (
    id           uuid PRIMARY KEY,
    workspace_id uuid NOT NULL CONSTRAINT workspace_builds_workspace_id_fkey REFERENCES workspaces (id),
    number       integer NOT NULL,
    transition   build_transition NOT NULL,
    status       build_status NOT NULL DEFAULT 'pending',
    reason       build_reason NOT NULL,
    initiator_id uuid CONSTRAINT workspace_builds_initiator_id_fkey REFERENCES users (id), -- NULL: chatd itself
    key          uuid, -- of the call that asked for it: the same call never makes two
    parameters   jsonb NOT NULL DEFAULT '{}', -- values by name, with the ephemeral ones
    error        text NOT NULL DEFAULT '',
    error_code   text NOT NULL DEFAULT '',
    replica_id   uuid, -- who carries it out
    claims       smallint NOT NULL DEFAULT 0, -- how often someone has begun to
    cancelled_by uuid, -- who asked for its end; it stops as soon as it can
    created_at   timestamptz NOT NULL DEFAULT now(),
    started_at   timestamptz,
    finished_at  timestamptz,
    CONSTRAINT workspace_builds_number_key UNIQUE (workspace_id, number),
    CONSTRAINT workspace_builds_error_length CHECK (char_length(error) <= 8192)
);
CREATE UNIQUE INDEX workspace_builds_key_key ON workspace_builds (key) WHERE key IS NOT NULL;
-- One at a time; and what is to be done is found here.
CREATE UNIQUE INDEX workspace_builds_one_active ON workspace_builds (workspace_id) WHERE status IN ('pending', 'running');

-- What a build said. As many lines as core/workspaces/limits.py admits; the writer sees to it.
CREATE TABLE workspace_build_logs (
    build_id   uuid NOT NULL CONSTRAINT workspace_build_logs_build_id_fkey REFERENCES workspace_builds (id),
    id         bigint GENERATED ALWAYS AS IDENTITY,
    created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    level      text NOT NULL,
    stage      text NOT NULL,
    line       text NOT NULL,
    CONSTRAINT workspace_build_logs_pkey PRIMARY KEY (build_id, id),
    CONSTRAINT workspace_build_logs_line_length CHECK (octet_length(line) <= 8192)
);
CREATE INDEX workspace_build_logs_by_time ON workspace_build_logs (created_at);

ALTER TABLE chats
    ADD COLUMN workspace_id uuid CONSTRAINT chats_workspace_id_fkey REFERENCES workspaces (id),
    ADD COLUMN context_dirty_since timestamptz; -- what the workspace offers is no longer what the chat was given
CREATE INDEX chats_by_workspace ON chats (workspace_id) WHERE workspace_id IS NOT NULL;
ALTER TABLE chat_state ADD COLUMN host_id text; -- of its workspace: only replicas of that machine run the chat

-- The instruction files and skills that a chat was given, as they were then.
CREATE TABLE chat_contexts (
    chat_id   uuid PRIMARY KEY CONSTRAINT chat_contexts_chat_id_fkey REFERENCES chats (id) ON DELETE CASCADE,
    hash      text NOT NULL,
    snapshot  jsonb NOT NULL,
    pinned_at timestamptz NOT NULL DEFAULT now()
);

-- What is known of the repository that a chat works in, and of its pull request.
CREATE TABLE chat_diff_statuses (
    chat_id             uuid PRIMARY KEY
        CONSTRAINT chat_diff_statuses_chat_id_fkey REFERENCES chats (id) ON DELETE CASCADE,
    git_branch          text NOT NULL DEFAULT '',
    git_remote_origin   text NOT NULL DEFAULT '',
    ahead               integer NOT NULL DEFAULT 0,
    behind              integer NOT NULL DEFAULT 0,
    additions           integer NOT NULL DEFAULT 0,
    deletions           integer NOT NULL DEFAULT 0,
    changed_files       integer NOT NULL DEFAULT 0,
    url                 text NOT NULL DEFAULT '', -- of the pull request; with the columns that follow
    pull_request_state  text NOT NULL DEFAULT '', -- open, closed, merged
    pull_request_title  text NOT NULL DEFAULT '',
    pull_request_draft  boolean NOT NULL DEFAULT false,
    pull_request_number integer,
    changes_requested   boolean NOT NULL DEFAULT false,
    approved            boolean,
    reviewer_count      integer,
    commits             integer,
    author_login        text NOT NULL DEFAULT '',
    author_avatar_url   text NOT NULL DEFAULT '',
    base_branch         text NOT NULL DEFAULT '',
    head_branch         text NOT NULL DEFAULT '',
    refreshed_at        timestamptz, -- when the provider was last asked with success
    stale_at            timestamptz NOT NULL, -- when it is to be asked again
    created_at          timestamptz NOT NULL DEFAULT now(),
    updated_at          timestamptz NOT NULL DEFAULT now(),
    CONSTRAINT chat_diff_statuses_pull_request_state CHECK (pull_request_state IN ('', 'open', 'closed', 'merged'))
);
CREATE INDEX chat_diff_statuses_stale ON chat_diff_statuses (stale_at)
    WHERE git_branch <> '' AND git_remote_origin <> '';

CREATE TABLE git_providers (
    id         uuid PRIMARY KEY,
    kind       git_provider_kind NOT NULL,
    host       text NOT NULL, -- as remotes name it
    api_url    text NOT NULL,
    token      encrypted_text,
    created_at timestamptz NOT NULL DEFAULT now(),
    updated_at timestamptz NOT NULL DEFAULT now(),
    CONSTRAINT git_providers_host_key UNIQUE (host),
    CONSTRAINT git_providers_host_length CHECK (char_length(host) BETWEEN 1 AND 255),
    CONSTRAINT git_providers_api_url_length CHECK (char_length(api_url) BETWEEN 1 AND 2048)
);

CREATE TRIGGER templates_audit AFTER INSERT OR UPDATE OR DELETE ON templates
    FOR EACH ROW EXECUTE FUNCTION write_audit('template', 'id', 'name');
CREATE TRIGGER workspaces_audit_made AFTER INSERT OR DELETE ON workspaces
    FOR EACH ROW EXECUTE FUNCTION write_audit('workspace', 'id', 'name', 'agent_token');
-- That it is used and what becomes of it is in its builds.
CREATE TRIGGER workspaces_audit_changed AFTER UPDATE ON workspaces
    FOR EACH ROW WHEN (
        OLD.owner_id <> NEW.owner_id OR OLD.name <> NEW.name OR OLD.deleted <> NEW.deleted
        OR OLD.ttl_ms IS DISTINCT FROM NEW.ttl_ms OR OLD.host_id IS DISTINCT FROM NEW.host_id
    )
    EXECUTE FUNCTION write_audit('workspace', 'id', 'name', 'agent_token');
CREATE TRIGGER git_providers_audit AFTER INSERT OR UPDATE OR DELETE ON git_providers
    FOR EACH ROW EXECUTE FUNCTION write_audit('git_provider', 'id', 'host', 'token');
