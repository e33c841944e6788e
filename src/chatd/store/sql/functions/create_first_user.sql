-- Creates the owner of an empty deployment. Of two callers at once one gets the row and the other none; also none when
-- the code is not known (code_hash NULL: the caller is the operator, who needs no code).
CREATE FUNCTION create_first_user(
    code_hash bytea, new_id uuid, new_email text, new_username text, new_display_name text, new_password_hash text
) RETURNS SETOF users LANGUAGE plpgsql AS $$
BEGIN
    -- Users are rarely written; the lock makes "there is none" stay true until the commit.
    LOCK TABLE users IN SHARE ROW EXCLUSIVE MODE;
    IF EXISTS (SELECT FROM users) THEN
        RETURN;
    END IF;
    IF code_hash IS NOT NULL AND NOT EXISTS (SELECT FROM setup_codes WHERE hash = code_hash) THEN
        RETURN;
    END IF;
    DELETE FROM setup_codes;
    RETURN QUERY
    INSERT INTO users (id, email, username, display_name, password_hash, role)
    VALUES (new_id, new_email, new_username, new_display_name, new_password_hash, 'owner')
    RETURNING users.*;
END $$;
