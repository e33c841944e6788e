-- How many more chats of a pool (roots or children) may run in the whole deployment. Until the end of the transaction
-- nobody else can ask, so that two never take the last slot. Who has asked waits for no row of chat_state afterwards.
CREATE FUNCTION free_slots(of_children boolean, capacity integer) RETURNS integer LANGUAGE plpgsql AS $$
BEGIN
    -- "chpl": the pools
    PERFORM pg_advisory_xact_lock(1667788908, of_children::integer);
    RETURN greatest(0, capacity - (
        SELECT count(*) FROM chat_state s
        WHERE s.replica_id IS NOT NULL AND s.is_child = of_children AND s.status = 'running'
          AND s.replica_id NOT IN (SELECT silent.id FROM silent_replicas() AS silent)
    ));
END $$;
