-- Counts a login as failed before the password is looked at, so that a thousand at once are counted one by one.
-- Returns the seconds that must pass first (and counts nothing), or 0: go on, and call settle_login on success.
CREATE FUNCTION admit_login(subjects text[], free_failures integer[], forget_after interval, longest interval)
RETURNS double precision LANGUAGE plpgsql AS $$
DECLARE
    pause double precision := login_pause(subjects, free_failures, forget_after, longest);
BEGIN
    -- Whoever has to wait costs one read: no lock, no row.
    IF pause > 0 THEN
        RETURN pause;
    END IF;
    -- One order for everyone: two logins that share subjects can't deadlock.
    PERFORM pg_advisory_xact_lock(hashtextextended(subject, 0)) FROM unnest(subjects) AS subject ORDER BY subject;
    pause := login_pause(subjects, free_failures, forget_after, longest);
    IF pause <= 0 THEN
        INSERT INTO login_failures AS known (subject, failures, last_failed_at)
        SELECT subject, 1, now() FROM unnest(subjects) AS subject
        ON CONFLICT (subject) DO UPDATE SET
            failures = CASE WHEN known.last_failed_at < now() - forget_after THEN 1 ELSE known.failures + 1 END,
            last_failed_at = now();
    END IF;
    RETURN greatest(pause, 0);
END $$;
