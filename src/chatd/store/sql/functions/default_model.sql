-- What a chat runs with when its own model can't be used: the default, or the oldest that can. NULL when there is none.
CREATE FUNCTION default_model() RETURNS uuid LANGUAGE sql STABLE AS $$
    SELECT m.id FROM model_configs m JOIN providers p ON p.id = m.provider_id
    WHERE m.enabled AND NOT m.deleted AND p.enabled AND NOT p.deleted
    ORDER BY m.is_default DESC, m.id
    LIMIT 1
$$;
