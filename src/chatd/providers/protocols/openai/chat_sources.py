"""Sources in a Chat Completions stream: OpenAI's annotations, and the lists that Perplexity and xAI send."""

from typing import Final

import msgspec

from chatd.core.model import ModelEvent, SourceFound
from chatd.providers.protocols.openai.chat_chunks import ChatAnnotation, Chunk, UrlCitation, given

_PAGES: Final = msgspec.json.Decoder(list[UrlCitation])
_URLS: Final = msgspec.json.Decoder(list[str])


class StreamedSources:
    """Gives each source once, whoever repeats it."""

    def __init__(self) -> None:
        self._found: set[str] = set()
        self._listed = b""

    def annotated(self, annotations: list[ChatAnnotation], events: list[ModelEvent]) -> None:
        self._add([note.url_citation for note in annotations if note.url_citation is not None], events)

    def listed(self, chunk: Chunk, events: list[ModelEvent]) -> None:
        """Pages have titles, so they come before mere addresses. A list that can't be read is no reason to fail."""
        said = bytes(chunk.search_results) + bytes(chunk.citations)
        if said == self._listed:  # it comes with every chunk
            return
        self._listed = said
        for raw, decoder in ((chunk.search_results, _PAGES), (chunk.citations, _URLS)):
            try:
                pages = decoder.decode(raw) if given(raw) else []
            except (msgspec.DecodeError, ValueError, RecursionError):
                continue
            self._add([UrlCitation(url=page) if isinstance(page, str) else page for page in pages], events)

    def _add(self, pages: list[UrlCitation], events: list[ModelEvent]) -> None:
        for page in pages:
            if page.url and page.url not in self._found:
                self._found.add(page.url)
                events.append(SourceFound(url=page.url, title=page.title or ""))
