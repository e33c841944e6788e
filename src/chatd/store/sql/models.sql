-- Providers and models. Rows are hidden, not deleted: messages and costs name them.

-- name: insert_provider :exec
-- @optional api_key
INSERT INTO providers (id, name, kind, display_name, base_url, api_key, options, enabled)
VALUES (@id, @name, @kind, @display_name, @base_url, @api_key, @options, @enabled);

-- name: update_provider :exec
-- All but the key.
UPDATE providers SET
    name = @name, display_name = @display_name, base_url = @base_url, options = @options, enabled = @enabled, updated_at = now()
WHERE id = @id AND NOT deleted;

-- name: update_provider_key :exec
-- NULL takes the key away. Not now(), which another change in the transaction has set already: write_audit would take it
-- for the same key in another form.
-- @optional api_key
UPDATE providers SET api_key = @api_key, updated_at = clock_timestamp() WHERE id = @id AND NOT deleted;

-- name: get_provider :opt
-- @notnull has_key
SELECT id, name, kind, display_name, base_url, options, enabled, created_at, updated_at, api_key IS NOT NULL AS has_key
FROM providers WHERE id = @id AND NOT deleted;

-- name: get_provider_with_key :opt
-- All of it in one row, so that a key never goes to an address that it was not given for. For machines only.
SELECT * FROM providers WHERE id = @id AND NOT deleted;

-- name: lock_models :exec
-- Until the end of the transaction nobody else takes this lock: what depends on all providers and models (that one model
-- is the default, that keys of the environment are used once) is decided by one after the other.
SELECT pg_advisory_xact_lock(hashtextextended('chatd models', 0));

-- name: list_providers :many
-- @notnull has_key
SELECT id, name, kind, display_name, base_url, options, enabled, created_at, updated_at, api_key IS NOT NULL AS has_key
FROM providers WHERE NOT deleted ORDER BY id;

-- name: delete_provider :exec
-- With its models; its key is forgotten.
WITH models AS (
    UPDATE model_configs SET deleted = true, is_default = false, updated_at = now() WHERE provider_id = @id AND NOT deleted
)
UPDATE providers SET deleted = true, api_key = NULL, updated_at = now() WHERE id = @id AND NOT deleted;

-- name: insert_model_config :one
-- @optional input_price, output_price, cache_read_price, cache_write_price
INSERT INTO model_configs (
    id, provider_id, model, display_name, enabled, context_limit, compression_threshold, options, input_price, output_price,
    cache_read_price, cache_write_price
) VALUES (
    @id, @provider_id, @model, @display_name, @enabled, @context_limit, @compression_threshold, @options, @input_price,
    @output_price, @cache_read_price, @cache_write_price
)
RETURNING *;

-- name: update_model_config :opt
-- @optional input_price, output_price, cache_read_price, cache_write_price
UPDATE model_configs SET
    provider_id = @provider_id, model = @model, display_name = @display_name, enabled = @enabled, context_limit = @context_limit,
    compression_threshold = @compression_threshold, options = @options, input_price = @input_price,
    output_price = @output_price, cache_read_price = @cache_read_price, cache_write_price = @cache_write_price,
    updated_at = now()
WHERE id = @id AND NOT deleted
RETURNING *;

-- name: get_model_config :opt
SELECT * FROM model_configs WHERE id = @id AND NOT deleted;

-- name: get_default_model_config :opt
-- The default, or the oldest that can be used when there is none.
SELECT m.* FROM model_configs m JOIN providers p ON p.id = m.provider_id
WHERE m.enabled AND NOT m.deleted AND p.enabled AND NOT p.deleted
ORDER BY m.is_default DESC, m.id
LIMIT 1;

-- name: list_model_configs :many
SELECT * FROM model_configs WHERE NOT deleted ORDER BY id;

-- name: list_offered_models :many
-- What anyone may choose and know of it: models that are switched on, of providers that are.
SELECT m.id, m.provider_id, p.kind, p.name AS provider_name, p.display_name AS provider_display_name, m.model, m.display_name,
    m.is_default, m.context_limit, m.compression_threshold, m.options -> 'reasoning_effort' AS reasoning_effort,
    m.input_price, m.output_price, m.cache_read_price, m.cache_write_price, m.created_at, m.updated_at
FROM model_configs m JOIN providers p ON p.id = m.provider_id
WHERE m.enabled AND NOT m.deleted AND p.enabled AND NOT p.deleted
ORDER BY m.id;

-- name: elect_default_model_config :exec
-- Where there is no default: the oldest that can be used, else the oldest. Under lock_models.
UPDATE model_configs SET is_default = true, updated_at = now()
WHERE NOT EXISTS (SELECT FROM model_configs WHERE is_default AND NOT deleted)
  AND id = (
    SELECT m.id FROM model_configs m JOIN providers p ON p.id = m.provider_id
    WHERE NOT m.deleted AND NOT p.deleted
    ORDER BY m.enabled AND p.enabled DESC, m.id
    LIMIT 1
);

-- name: set_default_model_config :exec
-- This one instead of whichever it was. All rows are locked in one order first, so that two calls at once wait for each
-- other and the second sees whom the first has chosen: a lock gives the newest version of its row.
WITH locked AS MATERIALIZED (
    SELECT id, is_default, deleted FROM model_configs ORDER BY id FOR NO KEY UPDATE
), cleared AS (
    UPDATE model_configs m SET is_default = false, updated_at = now()
    FROM locked
    WHERE m.id = locked.id AND locked.is_default AND m.id <> @id
      AND EXISTS (SELECT FROM locked AS wanted WHERE wanted.id = @id AND NOT wanted.deleted)
    RETURNING m.id
)
UPDATE model_configs m SET is_default = true, updated_at = now()
FROM (SELECT count(*) FROM cleared) AS done -- the old one first: there is never a second
WHERE m.id = @id AND NOT m.deleted;

-- name: delete_model_config :exec
UPDATE model_configs SET deleted = true, is_default = false, updated_at = now() WHERE id = @id AND NOT deleted;

-- name: list_model_origins :many
-- Whose each configured model is, deleted ones too: histories name them.
SELECT m.id, m.model, m.provider_id, p.kind FROM model_configs m JOIN providers p ON p.id = m.provider_id;
