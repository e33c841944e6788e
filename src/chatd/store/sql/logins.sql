-- name: admit_login :one
-- Seconds to wait before the next try, or 0: the try is counted and may go on.
-- @notnull pause
SELECT admit_login(@subjects::text[], @free_failures::int[], @forget_after::interval, @longest::interval) AS pause;

-- name: settle_login :exec
-- After a good login.
SELECT settle_login(@cleared::text[], @refunded::text[]);

-- name: delete_old_login_failures :exec
DELETE FROM login_failures WHERE last_failed_at < now() - @older_than::interval;

-- name: insert_setup_code :exec
INSERT INTO setup_codes (hash) VALUES (@hash);
