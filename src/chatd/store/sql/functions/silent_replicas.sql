-- The replicas that own chats and have not beaten for a lease (core/lease.py), or were never there. The owners are
-- found by hopping through the index, from one to the next.
CREATE FUNCTION silent_replicas() RETURNS TABLE (id uuid) LANGUAGE sql STABLE AS $$
    WITH RECURSIVE owners AS (
        (SELECT s.replica_id FROM chat_state s WHERE s.replica_id IS NOT NULL ORDER BY s.replica_id LIMIT 1)
        UNION ALL
        SELECT (
            SELECT s.replica_id FROM chat_state s
            WHERE s.replica_id IS NOT NULL AND s.replica_id > owners.replica_id ORDER BY s.replica_id LIMIT 1
        )
        FROM owners WHERE owners.replica_id IS NOT NULL
    )
    SELECT owners.replica_id FROM owners
    WHERE owners.replica_id IS NOT NULL AND NOT EXISTS (
        SELECT FROM replicas r WHERE r.id = owners.replica_id AND r.heartbeat_at >= now() - lease_time()
    );
$$;
