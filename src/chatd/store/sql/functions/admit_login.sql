-- Counts a login as failed before the password is looked at, so that a thousand at once are counted one by one.
-- Returns the seconds that must pass first (and counts nothing), or 0: go on, and call settle_login on success.
-- Each subject may fail free_failures[i] times; then the pause doubles from one second up to the longest.
CREATE FUNCTION admit_login(subjects text[], free_failures integer[], forget_after interval, longest interval)
RETURNS double precision LANGUAGE plpgsql AS $$
DECLARE
    pause double precision := 0;
    asked record;
BEGIN
    -- One order for everyone: two logins that share subjects can't deadlock.
    FOR asked IN
        SELECT a.subject, a.free FROM unnest(subjects, free_failures) AS a (subject, free) ORDER BY a.subject
    LOOP
        INSERT INTO login_failures AS known (subject, failures, last_failed_at)
        VALUES (asked.subject, 0, now())
        ON CONFLICT (subject) DO UPDATE SET
            failures = CASE WHEN known.last_failed_at < now() - forget_after THEN 0 ELSE known.failures END;
        SELECT greatest(pause, CASE WHEN f.failures < asked.free THEN 0 ELSE
            least(extract(epoch FROM longest), power(2, least(f.failures - asked.free, 30)))
            - extract(epoch FROM now() - f.last_failed_at) END)
        INTO pause FROM login_failures f WHERE f.subject = asked.subject;
    END LOOP;
    IF pause <= 0 THEN
        UPDATE login_failures SET failures = failures + 1, last_failed_at = now() WHERE subject = ANY (subjects);
    END IF;
    RETURN pause;
END $$;
