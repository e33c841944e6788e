-- Who changed what about users, groups, tokens, providers, models, settings, limits and keys; and when old keys of sends go.

CREATE INDEX chat_sends_by_time ON chat_sends (created_at);

-- Written by triggers in the transaction of the change itself, whoever makes it: a change that is stored has its entry, and
-- one that is not has none. Attempts that were refused are written by the server. Nothing here is ever changed.
CREATE TABLE audit_log (
    id             bigint GENERATED ALWAYS AS IDENTITY,
    at             timestamptz NOT NULL DEFAULT clock_timestamp(),
    actor_kind     text NOT NULL, -- 'user'; 'machine', a part of chatd; 'database', someone with a connection of their own
    actor_id       uuid,
    actor_name     text NOT NULL,
    action         text NOT NULL, -- create, update, delete
    target_kind    text NOT NULL,
    target_id      text NOT NULL,
    target_name    text NOT NULL,
    changes        jsonb NOT NULL, -- by column: {"before": …, "after": …}, or "changed" for a secret
    outcome        text NOT NULL, -- 'done', or 'refused'
    request_id     text NOT NULL,
    client_address text NOT NULL,
    CONSTRAINT audit_log_pkey PRIMARY KEY (id)
);
CREATE INDEX audit_log_by_time ON audit_log (at);
CREATE INDEX audit_log_by_actor ON audit_log (actor_id, id);
CREATE INDEX audit_log_by_target ON audit_log (target_kind, target_id, id);

CREATE FUNCTION refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'entries of the audit log are never changed';
END $$;
CREATE TRIGGER audit_log_stays BEFORE UPDATE ON audit_log FOR EACH ROW EXECUTE FUNCTION refuse_change();

-- A value as the log shows it: what is long is cut, so that an entry stays small.
CREATE FUNCTION audit_value(value jsonb) RETURNS jsonb LANGUAGE sql IMMUTABLE AS $$
    SELECT CASE WHEN length(value::text) <= 1000 THEN value ELSE to_jsonb(left(value::text, 1000) || '…') END
$$;

-- Arguments: the kind of the target; the columns that its id is in, of which the first that is not NULL counts; that of its
-- name; and those of secrets. Lists are separated by commas.
-- The actor is what set_audit_actor has said in this transaction.
CREATE FUNCTION write_audit() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    actor CONSTANT jsonb := nullif(current_setting('chatd.audit', true), '')::jsonb;
    before CONSTANT jsonb := CASE WHEN TG_OP <> 'INSERT' THEN to_jsonb(OLD) END;
    after CONSTANT jsonb := CASE WHEN TG_OP <> 'DELETE' THEN to_jsonb(NEW) END;
    target CONSTANT jsonb := coalesce(after, before);
    secrets text[] := string_to_array(coalesce(TG_ARGV[3], ''), ',');
    action CONSTANT text := CASE
        WHEN TG_OP = 'INSERT' THEN 'create'
        WHEN TG_OP = 'DELETE' OR (after -> 'deleted' = 'true' AND before -> 'deleted' = 'false') THEN 'delete'
        ELSE 'update'
    END;
    unseen text[] := '{id,key,deleted,created_at,updated_at,last_seen_at,last_used_at}'; -- or said elsewhere
    changes jsonb;
    named text;
BEGIN
    -- Sessions are opened and ended by signing in and out. That another person ends one is worth an entry.
    IF TG_TABLE_NAME = 'tokens' AND target ->> 'kind' = 'session'
        AND coalesce(actor ->> 'id' = target ->> 'user_id', actor ->> 'name' IS DISTINCT FROM 'operator')
    THEN
        RETURN NULL;
    END IF;
    -- The same secret in another form, a stronger hash or another encryption key, is no change that anyone made: it leaves
    -- updated_at as it is.
    IF TG_OP = 'UPDATE' AND before -> 'updated_at' = after -> 'updated_at' THEN
        unseen := unseen || secrets;
    END IF;
    -- A setting that is a text is a prompt, which only owners may read.
    IF TG_TABLE_NAME = 'site_settings' AND 'string' IN (jsonb_typeof(before -> 'value'), jsonb_typeof(after -> 'value')) THEN
        secrets := '{value}';
    END IF;
    SELECT jsonb_object_agg(
        field,
        CASE WHEN field = ANY (secrets) THEN '"changed"' ELSE
            CASE WHEN before ->> field IS NULL THEN '{}' ELSE jsonb_build_object('before', audit_value(before -> field)) END
            || CASE WHEN after ->> field IS NULL THEN '{}' ELSE jsonb_build_object('after', audit_value(after -> field)) END
        END
    )
    INTO changes
    FROM jsonb_object_keys(target) AS field
    WHERE field <> ALL (unseen) AND nullif(before -> field, 'null') IS DISTINCT FROM nullif(after -> field, 'null');
    IF changes IS NULL AND action = 'update' THEN
        RETURN NULL;
    END IF;
    IF TG_TABLE_NAME = 'group_members' THEN
        SELECT u.username INTO named FROM users u WHERE u.id = (target ->> 'user_id')::uuid;
    END IF;
    INSERT INTO audit_log (
        actor_kind, actor_id, actor_name, action, target_kind, target_id, target_name, changes, outcome, request_id,
        client_address
    ) VALUES (
        coalesce(actor ->> 'kind', 'database'), (actor ->> 'id')::uuid, coalesce(actor ->> 'name', session_user),
        action, TG_ARGV[0],
        coalesce((
            SELECT target ->> part.name FROM unnest(string_to_array(TG_ARGV[1], ',')) WITH ORDINALITY AS part (name, place)
            WHERE target ->> part.name IS NOT NULL ORDER BY part.place LIMIT 1
        ), ''),
        coalesce(named, target ->> TG_ARGV[2], ''), coalesce(changes, '{}'),
        'done', coalesce(actor ->> 'request_id', ''), coalesce(actor ->> 'client_address', '')
    );
    RETURN NULL;
END $$;

-- What servers write all the time (last_seen_at, last_used_at, sessions) fires none of these.
CREATE TRIGGER users_audit
    AFTER INSERT OR DELETE OR UPDATE OF email, username, display_name, password_hash, role, status, deleted ON users
    FOR EACH ROW EXECUTE FUNCTION write_audit('user', 'id', 'username', 'password_hash');
CREATE TRIGGER tokens_audit_made AFTER INSERT ON tokens
    FOR EACH ROW WHEN (NEW.kind = 'api') EXECUTE FUNCTION write_audit('token', 'id', 'name', 'hash');
CREATE TRIGGER tokens_audit_changed AFTER UPDATE OF user_id, name, hash, scopes, expires_at ON tokens
    FOR EACH ROW EXECUTE FUNCTION write_audit('token', 'id', 'name', 'hash');
CREATE TRIGGER tokens_audit_ended AFTER DELETE ON tokens
    FOR EACH ROW WHEN (OLD.expires_at > now()) EXECUTE FUNCTION write_audit('token', 'id', 'name', 'hash');
CREATE TRIGGER groups_audit AFTER INSERT OR UPDATE OR DELETE ON groups
    FOR EACH ROW EXECUTE FUNCTION write_audit('group', 'id', 'name');
CREATE TRIGGER group_members_audit AFTER INSERT OR UPDATE OR DELETE ON group_members
    FOR EACH ROW EXECUTE FUNCTION write_audit('group_member', 'group_id', 'user_id');
CREATE TRIGGER organizations_audit AFTER INSERT OR UPDATE OR DELETE ON organizations
    FOR EACH ROW EXECUTE FUNCTION write_audit('organization', 'id', 'name');
CREATE TRIGGER providers_audit AFTER INSERT OR UPDATE OR DELETE ON providers
    FOR EACH ROW EXECUTE FUNCTION write_audit('provider', 'id', 'name', 'api_key');
CREATE TRIGGER model_configs_audit AFTER INSERT OR UPDATE OR DELETE ON model_configs
    FOR EACH ROW EXECUTE FUNCTION write_audit('model', 'id', 'model');
CREATE TRIGGER site_settings_audit AFTER INSERT OR UPDATE OR DELETE ON site_settings
    FOR EACH ROW EXECUTE FUNCTION write_audit('setting', 'key', 'key');
CREATE TRIGGER usage_limits_audit AFTER INSERT OR UPDATE OR DELETE ON usage_limits
    FOR EACH ROW EXECUTE FUNCTION write_audit('usage_limit', 'user_id,group_id', 'period');
CREATE TRIGGER encryption_keys_audit AFTER INSERT OR UPDATE OR DELETE ON encryption_keys
    FOR EACH ROW EXECUTE FUNCTION write_audit('encryption_key', 'id', 'id', 'canary');
