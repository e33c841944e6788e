-- The state of a chat, as core/states.py derives it.
CREATE FUNCTION state_of(status chat_status, archived boolean, queue_length integer) RETURNS text
LANGUAGE sql IMMUTABLE AS $$
    SELECT CASE
        WHEN archived THEN CASE
            WHEN status = 'waiting' AND queue_length = 0 THEN 'XW'
            WHEN status = 'error' THEN CASE WHEN queue_length > 0 THEN 'XE1' ELSE 'XE0' END
            ELSE 'invalid'
        END
        WHEN status = 'waiting' THEN CASE WHEN queue_length = 0 THEN 'W' ELSE 'invalid' END
        ELSE CASE status WHEN 'running' THEN 'R' WHEN 'interrupting' THEN 'I' WHEN 'error' THEN 'E' ELSE 'A' END
            || CASE WHEN queue_length > 0 THEN '1' ELSE '0' END
    END;
$$;
