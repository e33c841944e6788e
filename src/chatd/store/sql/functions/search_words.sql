-- The words of a text, and one that no text has (there is a space in it): whose they are. With it, a search in one's own
-- chats reads no others, however common its words are. What is said is no HTML: `List<String>` has two words.
CREATE FUNCTION search_words(said text, owner uuid) RETURNS tsvector LANGUAGE sql IMMUTABLE AS $$
    SELECT to_tsvector('simple', translate(said, '<', ' ')) || array_to_tsvector(ARRAY['of ' || owner]);
$$;
