-- The names of the tools that the client of a chat runs.
CREATE FUNCTION dynamic_tools(target uuid) RETURNS SETOF text LANGUAGE sql STABLE AS $$
    SELECT tool ->> 'name' FROM chats, jsonb_array_elements(chats.dynamic_tools) AS tool WHERE chats.id = target;
$$;
