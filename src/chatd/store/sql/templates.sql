-- What workspaces are made of.

-- name: insert_template :one
-- @optional created_by
INSERT INTO templates (
    id, organization_id, name, display_name, description, icon, readme, provisioner, config, parameters, agents_allowed,
    allows_user_autostop, default_ttl_ms, activity_bump_ms, max_lifetime_ms, deprecated, created_by
) VALUES (
    @id, @organization_id, @name, @display_name, @description, @icon, @readme, @provisioner, @config, @parameters,
    @agents_allowed, @allows_user_autostop, @default_ttl_ms, @activity_bump_ms, @max_lifetime_ms, @deprecated,
    @created_by
)
RETURNING *;

-- name: seed_template :exec
-- The first template of a deployment. Nothing happens where there is or was one, also when several servers start at once.
INSERT INTO templates (id, organization_id, name, display_name, description, icon, readme, provisioner, config)
SELECT @id, o.id, @name, @display_name, @description, @icon, @readme, @provisioner, @config
FROM organizations o WHERE o.is_default AND NOT EXISTS (SELECT FROM templates)
ON CONFLICT (organization_id, name) WHERE NOT deleted DO NOTHING;

-- name: update_template :opt
UPDATE templates SET
    name = @name, display_name = @display_name, description = @description, icon = @icon, readme = @readme,
    config = @config, parameters = @parameters, agents_allowed = @agents_allowed,
    allows_user_autostop = @allows_user_autostop, default_ttl_ms = @default_ttl_ms,
    activity_bump_ms = @activity_bump_ms, max_lifetime_ms = @max_lifetime_ms, deprecated = @deprecated,
    updated_at = now()
WHERE id = @id AND NOT deleted
RETURNING *;

-- name: delete_template :exec
-- One that still has workspaces stays.
UPDATE templates t SET deleted = true, updated_at = now()
WHERE t.id = @id AND NOT t.deleted
  AND NOT EXISTS (SELECT FROM workspaces w WHERE w.template_id = t.id AND NOT w.deleted);

-- name: get_template :opt
SELECT * FROM templates WHERE id = @id AND NOT deleted;

-- name: list_templates :many
-- In the order of their names.
SELECT * FROM templates WHERE organization_id = @organization_id AND NOT deleted ORDER BY name;

-- name: offers_templates :one
-- Whether there is one that models may make workspaces from.
-- @notnull offers
SELECT EXISTS (SELECT FROM templates WHERE agents_allowed AND deprecated = '' AND NOT deleted) AS offers;

-- name: list_offered_templates :many
-- What a model may choose from, with what tells how likely its user wants it: how many people use it now, and how much
-- this user has used it lately.
-- @notnull id, name, display_name, description, readme, developers, own_active, own_recently_deleted
SELECT
    t.id, t.name, t.display_name, t.description, t.readme,
    count(DISTINCT w.owner_id) FILTER (WHERE NOT w.deleted) AS developers,
    count(*) FILTER (WHERE w.owner_id = @owner_id AND NOT w.deleted) AS own_active,
    count(*) FILTER (
        WHERE w.owner_id = @owner_id AND w.deleted AND w.last_used_at >= now() - @recently::interval
    ) AS own_recently_deleted,
    max(w.last_used_at) FILTER (WHERE w.owner_id = @owner_id) AS last_used_at
FROM templates t LEFT JOIN workspaces w ON w.template_id = t.id
WHERE t.organization_id = @organization_id AND NOT t.deleted AND t.deprecated = '' AND t.agents_allowed
GROUP BY t.id
ORDER BY t.name;

-- name: count_template_workspaces :many
-- How many workspaces there are of each of these templates, of those that the actor may see.
-- @notnull workspaces
SELECT w.template_id, count(*) AS workspaces FROM workspaces w
WHERE w.template_id = ANY (@template_ids::uuid[]) AND NOT w.deleted
  -- @authorize_filter owner=w.owner_id
GROUP BY w.template_id;
