-- After a good login: what is known against the account is cleared, and the address gets this one attempt back.
CREATE FUNCTION settle_login(cleared text[], refunded text[]) RETURNS void LANGUAGE sql AS $$
    DELETE FROM login_failures WHERE subject = ANY (cleared);
    UPDATE login_failures SET failures = greatest(failures - 1, 0) WHERE subject = ANY (refunded);
$$;
