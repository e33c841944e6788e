-- For a transition that makes an unowned chat run: the replica that carries it out takes the chat and records its first
-- attempt, if it wants to (taker), its pool has room and it runs where the chat's workspace is. With NULLs the chat waits to be acquired.
CREATE FUNCTION take_ownership(
    change chat_change, taker uuid, taker_runner uuid, root_capacity integer, child_capacity integer
) RETURNS chat_change LANGUAGE plpgsql AS $$
DECLARE
    capacity integer := CASE WHEN change.is_child THEN child_capacity ELSE root_capacity END;
BEGIN
    IF taker IS NOT NULL AND change.replica_id IS NULL
        AND (capacity IS NULL OR free_slots(change.is_child, capacity) > 0)
        AND (change.host_id IS NULL OR change.host_id <> ALL (hosts_elsewhere(taker)))
    THEN
        change.replica_id := taker;
        change.runner_id := taker_runner;
        change.generation_attempt := 1;
    END IF;
    RETURN change;
END $$;
