-- People, tokens, settings, encryption keys: what every later table refers to.

-- The declaration of a secret column. Only our ciphertext fits (store/cipher.py), so a secret can't be stored in plain
-- text by mistake; dbgen and rotation find the columns by this type.
CREATE DOMAIN encrypted_text AS text CHECK (VALUE ~ '^enc1:[0-9a-f]{16}:[A-Za-z0-9+/=]+$');

CREATE TYPE user_role AS ENUM ('owner', 'auditor', 'member');
CREATE TYPE user_status AS ENUM ('active', 'suspended');
CREATE TYPE token_kind AS ENUM ('session', 'api');

CREATE TABLE organizations (
    id           uuid PRIMARY KEY,
    name         text NOT NULL,
    display_name text NOT NULL,
    is_default   boolean NOT NULL,
    created_at   timestamptz NOT NULL DEFAULT now(),
    CONSTRAINT organizations_name_key UNIQUE (name)
);
CREATE UNIQUE INDEX organizations_one_default ON organizations (is_default) WHERE is_default;
INSERT INTO organizations (id, name, display_name, is_default)
VALUES (gen_random_uuid(), 'default', 'Default', true);

CREATE TABLE users (
    id            uuid PRIMARY KEY,
    email         text NOT NULL,
    username      text NOT NULL,
    display_name  text NOT NULL DEFAULT '',
    password_hash text NOT NULL,
    role          user_role NOT NULL DEFAULT 'member',
    status        user_status NOT NULL DEFAULT 'active',
    deleted       boolean NOT NULL DEFAULT false,
    created_at    timestamptz NOT NULL DEFAULT now(),
    updated_at    timestamptz NOT NULL DEFAULT now(),
    last_seen_at  timestamptz,
    CONSTRAINT users_email_length CHECK (char_length(email) BETWEEN 3 AND 254),
    CONSTRAINT users_username_shape CHECK (username ~ '^[a-zA-Z0-9]([a-zA-Z0-9_.-]{0,30}[a-zA-Z0-9])?$'),
    CONSTRAINT users_display_name_length CHECK (char_length(display_name) <= 128)
);
-- A deleted user's email and name are free again.
CREATE UNIQUE INDEX users_email_key ON users (lower(email)) WHERE NOT deleted;
CREATE UNIQUE INDEX users_username_key ON users (lower(username)) WHERE NOT deleted;

CREATE TABLE groups (
    id           uuid PRIMARY KEY,
    name         text NOT NULL,
    display_name text NOT NULL DEFAULT '',
    created_at   timestamptz NOT NULL DEFAULT now(),
    CONSTRAINT groups_name_shape CHECK (name ~ '^[a-zA-Z0-9]([a-zA-Z0-9_.-]{0,30}[a-zA-Z0-9])?$'),
    CONSTRAINT groups_display_name_length CHECK (char_length(display_name) <= 128)
);
CREATE UNIQUE INDEX groups_name_key ON groups (lower(name));

CREATE TABLE group_members (
    group_id   uuid NOT NULL CONSTRAINT group_members_group_id_fkey REFERENCES groups (id) ON DELETE CASCADE,
    user_id    uuid NOT NULL CONSTRAINT group_members_user_id_fkey REFERENCES users (id) ON DELETE CASCADE,
    created_at timestamptz NOT NULL DEFAULT now(),
    CONSTRAINT group_members_pkey PRIMARY KEY (group_id, user_id)
);
CREATE INDEX group_members_by_user ON group_members (user_id);

-- Sessions and API tokens. The token itself is shown once and never stored: only its hash is.
CREATE TABLE tokens (
    id           uuid PRIMARY KEY,
    user_id      uuid NOT NULL CONSTRAINT tokens_user_id_fkey REFERENCES users (id) ON DELETE CASCADE,
    kind         token_kind NOT NULL,
    name         text NOT NULL,
    hash         bytea NOT NULL,
    scopes       text[] NOT NULL,
    created_at   timestamptz NOT NULL DEFAULT now(),
    expires_at   timestamptz NOT NULL,
    last_used_at timestamptz,
    client_ip    text NOT NULL DEFAULT '',
    user_agent   text NOT NULL DEFAULT '',
    CONSTRAINT tokens_hash_key UNIQUE (hash),
    CONSTRAINT tokens_name_length CHECK (char_length(name) BETWEEN 1 AND 64),
    CONSTRAINT tokens_hash_is_sha256 CHECK (octet_length(hash) = 32)
);
CREATE INDEX tokens_by_user ON tokens (user_id, id);
CREATE INDEX tokens_by_expiry ON tokens (expires_at);
-- Two API tokens of one user have different names, so that one can be revoked by name.
CREATE UNIQUE INDEX tokens_api_name_key ON tokens (user_id, lower(name)) WHERE kind = 'api';

-- Failed logins by what was attacked or who attacks: an account, an address, both. Written by admit_login and settle_login only.
CREATE TABLE login_failures (
    subject        text PRIMARY KEY,
    failures       integer NOT NULL,
    last_failed_at timestamptz NOT NULL,
    CONSTRAINT login_failures_not_negative CHECK (failures >= 0)
);
CREATE INDEX login_failures_by_time ON login_failures (last_failed_at);

-- One-time codes that let whoever reads the server's terminal create the first admin. Void once there is a user.
CREATE TABLE setup_codes (
    hash       bytea PRIMARY KEY,
    created_at timestamptz NOT NULL DEFAULT now()
);

CREATE TABLE site_settings (
    key        text PRIMARY KEY,
    value      jsonb NOT NULL,
    updated_at timestamptz NOT NULL DEFAULT now()
);

-- Counters that replicas poll: a changed number means that what they cached of that area may be old.
CREATE TABLE versions (
    area    text PRIMARY KEY,
    version bigint NOT NULL DEFAULT 1
);
INSERT INTO versions (area) VALUES ('auth'), ('settings');

CREATE TABLE secrets (
    name       text PRIMARY KEY,
    value      encrypted_text NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now()
);

CREATE TABLE encryption_keys (
    id         text PRIMARY KEY,
    canary     text NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now(),
    revoked_at timestamptz,
    CONSTRAINT encryption_keys_id_shape CHECK (id ~ '^[0-9a-f]{16}$')
);

-- Anything that changes who may do what moves the auth version, whoever wrote it. Deferred to the commit and done once
-- per transaction: the counter is then the last row that every transaction locks, so that no two can deadlock over it.
CREATE FUNCTION move_version() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    area_name text := TG_ARGV[0];
    moved text := 'chatd.moved_' || area_name;
BEGIN
    IF current_setting(moved, true) IS DISTINCT FROM pg_current_xact_id()::text THEN
        UPDATE versions SET version = version + 1 WHERE area = area_name;
        PERFORM set_config(moved, pg_current_xact_id()::text, true);
    END IF;
    RETURN NULL;
END $$;
CREATE CONSTRAINT TRIGGER users_move_auth_version
    AFTER DELETE OR UPDATE OF role, status, deleted, password_hash, username ON users
    DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION move_version('auth');
CREATE CONSTRAINT TRIGGER tokens_move_auth_version AFTER DELETE OR UPDATE OF expires_at, scopes ON tokens
    DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION move_version('auth');
CREATE CONSTRAINT TRIGGER site_settings_move_version AFTER INSERT OR UPDATE OR DELETE ON site_settings
    DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION move_version('settings');
