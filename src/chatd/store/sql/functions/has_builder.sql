-- Whether a replica lives that can carry out builds of such workspaces: on this machine (NULL: on any) and of this kind.
CREATE FUNCTION has_builder(machine text, kind provisioner_kind) RETURNS boolean LANGUAGE sql STABLE AS $$
    SELECT EXISTS (
        SELECT FROM replicas r
        WHERE r.heartbeat_at >= now() - lease_time() AND (machine IS NULL OR r.host_id = machine)
          AND (r.provisioners IS NULL OR kind::text = ANY (r.provisioners))
    )
$$;
