-- Seconds until the next try, over all subjects; 0 or less: now. Each subject may fail free_failures[i] times; then the
-- pause doubles from one second up to the longest.
CREATE FUNCTION login_pause(subjects text[], free_failures integer[], forget_after interval, longest interval)
RETURNS double precision LANGUAGE sql AS $$
    SELECT coalesce(max(
        least(extract(epoch FROM longest), power(2, least(known.failures - asked.free, 30)))
        - extract(epoch FROM clock_timestamp() - known.last_failed_at)
    ), 0)
    FROM unnest(subjects, free_failures) AS asked (subject, free)
    JOIN login_failures known ON known.subject = asked.subject
    WHERE known.failures >= asked.free AND known.last_failed_at >= now() - forget_after;
$$;
