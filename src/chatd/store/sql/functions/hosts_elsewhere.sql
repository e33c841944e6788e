-- Machines whose chats are not for this replica: other ones than its own that were seen lately (core/lease.py). When a
-- machine has been away for long, anyone runs its chats.
CREATE FUNCTION hosts_elsewhere(taker uuid) RETURNS text[] LANGUAGE sql STABLE AS $$
    SELECT coalesce(array_agg(h.id), '{}') FROM hosts h
    WHERE h.seen_at >= now() - host_time()
      AND h.id IS DISTINCT FROM (SELECT r.host_id FROM replicas r WHERE r.id = taker);
$$;
