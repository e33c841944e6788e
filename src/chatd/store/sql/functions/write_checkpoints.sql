-- Everything that the chats of a replica have shown since its last call, and the end of what is stale of the chats in
-- `done`. Locks no chat and does not wait for the disk. What the replica does not own any more, or whose history has
-- moved, is left out. A range that is given again, because nobody knows whether it was stored, replaces the first one.
-- Returns how many ranges were written.
CREATE FUNCTION write_checkpoints(writer uuid, ranges checkpoint_row[], done uuid[]) RETURNS integer LANGUAGE plpgsql AS $$
DECLARE
    written integer := 0;
BEGIN
    PERFORM set_config('synchronous_commit', 'off', true); -- of this transaction
    IF done <> '{}' THEN
        -- The new owner of a chat may delete the same rows at the same moment: who comes second leaves them.
        DELETE FROM chat_checkpoints WHERE ctid = ANY (ARRAY(
            SELECT c.ctid FROM chat_state s JOIN chat_checkpoints c ON c.chat_id = s.chat_id
            WHERE s.chat_id = ANY (done) AND c.chat_id = ANY (done)
              AND (s.history_version <> c.history_version OR s.status NOT IN ('running', 'interrupting'))
            FOR UPDATE OF c SKIP LOCKED
        ));
    END IF;
    IF ranges <> '{}' THEN
        INSERT INTO chat_checkpoints AS known (
            chat_id, history_version, attempt, runner_id, first_seq, last_seq, parts
        )
        SELECT r.chat_id, r.history_version, r.attempt, s.runner_id, r.first_seq, r.last_seq, r.parts
        FROM unnest(ranges) AS r
        JOIN chat_state s ON s.chat_id = r.chat_id AND s.replica_id = writer AND s.history_version = r.history_version
        ON CONFLICT ON CONSTRAINT chat_checkpoints_pkey
            DO UPDATE SET last_seq = excluded.last_seq, parts = excluded.parts
            WHERE known.last_seq < excluded.last_seq;
        GET DIAGNOSTICS written = ROW_COUNT;
    END IF;
    RETURN written;
END $$;
