-- Ends the holds whose time is up, in some chats; those that someone else has locked right now are left for later.
CREATE FUNCTION release_overdue(most_chats integer) RETURNS SETOF chat_change LANGUAGE plpgsql AS $$
DECLARE
    overdue record;
BEGIN
    FOR overdue IN
        SELECT s.chat_id FROM chat_state s
        WHERE NOT s.archived AND s.chat_id IN (SELECT q.chat_id FROM queued_messages q WHERE q.held_until <= now())
        LIMIT most_chats
        FOR NO KEY UPDATE SKIP LOCKED
    LOOP
        BEGIN
            RETURN QUERY
            SELECT released.* FROM (
                SELECT q.id FROM queued_messages q
                WHERE q.chat_id = overdue.chat_id AND q.held_until <= now()
                ORDER BY q.position, q.id
            ) AS late,
            release_queued(overdue.chat_id, NULL, late.id, NULL, NULL, NULL, 0, NULL, NULL, NULL, NULL) AS released;
        EXCEPTION WHEN integrity_constraint_violation THEN
            -- One chat that breaks a rule must not keep all others waiting.
            RAISE WARNING 'the holds of chat % can''t be ended: %', overdue.chat_id, SQLERRM;
        END;
    END LOOP;
END $$;
