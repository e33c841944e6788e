-- How much users may spend.

-- name: has_usage_limits :one
-- Whether anyone's spending is limited at all.
-- @notnull exists
SELECT EXISTS (SELECT FROM usage_limits) AS exists;

-- name: list_spending :many
-- All limits that a user is under: own ones, those of their groups, and everyone's, with what their chats have cost since
-- the period began. Deleted messages count, they were paid for, and so do titles, labels and summaries. Without a limit
-- nothing is summed.
-- @notnull is_own, period, spent_microdollars
WITH limits AS MATERIALIZED (
    SELECT
        l.user_id, l.group_id, l.period, l.microdollars,
        CASE l.period WHEN 'day' THEN @day_start::timestamptz WHEN 'week' THEN @week_start ELSE @month_start END AS since
    FROM (
        SELECT * FROM usage_limits WHERE user_id = @user_id
        UNION ALL
        SELECT l.* FROM group_members g JOIN usage_limits l ON l.group_id = g.group_id WHERE g.user_id = @user_id
        UNION ALL
        SELECT * FROM usage_limits WHERE user_id IS NULL AND group_id IS NULL
    ) AS l
), spent AS MATERIALIZED (
    SELECT
        starts.since,
        (
            -- A chat that rests has not been written to since it came to rest. OFFSET keeps this a look at each chat of
            -- the user: to the planner, reading the states of everyone's seems as cheap.
            SELECT coalesce(sum(m.cost_microdollars), 0)::bigint
            FROM chats c
            CROSS JOIN LATERAL (
                SELECT FROM chat_state s
                WHERE s.chat_id = c.id AND (s.updated_at >= starts.since OR s.status NOT IN ('waiting', 'error'))
                OFFSET 0
            ) AS active
            JOIN messages m ON m.chat_id = c.id
            WHERE c.owner_id = @user_id AND m.created_at >= starts.since
        ) + (
            SELECT coalesce(sum(s.cost_microdollars), 0)::bigint
            FROM side_costs s
            WHERE s.owner_id = @user_id AND s.created_at >= starts.since
        ) AS microdollars
    FROM (SELECT DISTINCT since FROM limits WHERE microdollars IS NOT NULL) AS starts
)
SELECT
    limits.user_id IS NOT NULL AS is_own, limits.group_id, limits.period, limits.microdollars,
    coalesce((SELECT spent.microdollars FROM spent WHERE spent.since = limits.since), 0) AS spent_microdollars
FROM limits
ORDER BY is_own DESC, limits.group_id, limits.period;

-- name: list_usage_limits :many
SELECT * FROM usage_limits ORDER BY user_id, group_id, period;

-- name: upsert_usage_limit :exec
-- Of a user or of a group; of everyone with neither.
-- @optional user_id, group_id, microdollars
INSERT INTO usage_limits (user_id, group_id, period, microdollars) VALUES (@user_id, @group_id, @period, @microdollars)
ON CONFLICT ON CONSTRAINT usage_limits_key DO UPDATE SET microdollars = excluded.microdollars, updated_at = now();

-- name: delete_usage_limit :exec
-- @optional user_id, group_id
DELETE FROM usage_limits
WHERE user_id IS NOT DISTINCT FROM @user_id::uuid AND group_id IS NOT DISTINCT FROM @group_id::uuid AND period = @period;
