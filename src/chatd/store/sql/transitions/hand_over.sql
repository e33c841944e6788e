-- A replica that stops lets go of its chats, of so many at once. Those that someone else has locked right now are left:
-- call it again.
CREATE FUNCTION hand_over(leaver uuid, most_chats integer) RETURNS SETOF chat_change LANGUAGE plpgsql AS $$
DECLARE
    owned record;
BEGIN
    FOR owned IN
        SELECT s.chat_id, s.runner_id FROM chat_state s WHERE s.replica_id = leaver
        LIMIT most_chats
        FOR NO KEY UPDATE SKIP LOCKED
    LOOP
        RETURN NEXT abandon(owned.chat_id, owned.runner_id);
    END LOOP;
END $$;
