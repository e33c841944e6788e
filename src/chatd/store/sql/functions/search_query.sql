-- The question in the syntax of web searches: words, "phrases", or, -not. NULL, which nothing matches, when there is no
-- word in it that could be looked up. With an owner: in their messages only.
CREATE FUNCTION search_query(asked text, owner uuid) RETURNS tsquery LANGUAGE sql IMMUTABLE AS $$
    SELECT CASE
        WHEN querytree(words) IN ('', 'T') THEN NULL
        WHEN owner IS NULL THEN words
        ELSE words && quote_literal('of ' || owner)::tsquery
    END
    FROM websearch_to_tsquery('simple', asked) AS words;
$$;
