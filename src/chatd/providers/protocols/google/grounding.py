"""What Gemini's answer rests on: searches that it made, pages that it read, sources that it quotes.

The vendor tells this beside the answer, bit by bit or at the end, not as calls and results. People see it as those,
without metadata: there is nothing to send back.
"""

from collections.abc import Iterable
from typing import Final, TypeVar

import msgspec

from chatd.core.model import SourceFound
from chatd.providers.protocols.google.events import READ_ERRORS, Candidate, is_given

_MOST: Final = 1000  # queries, pages or sources of one answer; the vendor gives dozens
_SEARCH: Final = "google_search"
_PAGE_READER: Final = "url_context"
GROUNDED_TOOLS: Final = frozenset((_SEARCH, _PAGE_READER))  # newer models tell of these as calls as well
_Found = TypeVar("_Found")


class _Camel(msgspec.Struct, frozen=True, rename="camel"):
    pass


class _Place(_Camel, frozen=True):
    uri: str | None = None
    title: str | None = None


class _GroundingChunk(_Camel, frozen=True):
    web: _Place | None = None
    maps: _Place | None = None
    retrieved_context: _Place | None = None


class _Grounding(_Camel, frozen=True):
    web_search_queries: tuple[str, ...] | None = None
    grounding_chunks: tuple[_GroundingChunk, ...] | None = None


class _Citations(_Camel, frozen=True):
    citations: tuple[_Place, ...] | None = None
    citation_sources: tuple[_Place, ...] | None = None  # the older name


class _Page(_Camel, frozen=True):
    retrieved_url: str | None = None
    url_retrieval_status: str | None = None


class _Pages(_Camel, frozen=True):
    url_metadata: tuple[_Page, ...] | None = None


_GROUNDING: Final = msgspec.json.Decoder(_Grounding)
_CITATIONS: Final = msgspec.json.Decoder(_Citations)
_PAGES: Final = msgspec.json.Decoder(_Pages)
_SUCCESS: Final = "URL_RETRIEVAL_STATUS_SUCCESS"


class VendorRun(msgspec.Struct, frozen=True):
    """A call of the vendor's own with its result; both are JSON."""

    tool_name: str
    args: str
    result: str
    is_error: bool = False


class Grounding:
    """Gathers it from all chunks, each thing once. What can't be read is left out."""

    def __init__(self) -> None:
        self._queries: dict[str, None] = {}
        self._pages: dict[str, str] = {}
        self._sources: dict[str, str] = {}

    def add(self, candidate: Candidate) -> None:
        if (grounding := _read(_GROUNDING, candidate.grounding_metadata)) is not None:
            for query in (grounding.web_search_queries or ())[:_MOST]:
                _keep(self._queries, query, None)
            for chunk in grounding.grounding_chunks or ():
                self._add_sources(place for place in (chunk.web, chunk.maps, chunk.retrieved_context) if place)
        if (cited := _read(_CITATIONS, candidate.citation_metadata)) is not None:
            self._add_sources((*(cited.citations or ()), *(cited.citation_sources or ())))
        if (pages := _read(_PAGES, candidate.url_context_metadata)) is not None:
            for page in pages.url_metadata or ():
                _keep(self._pages, page.retrieved_url or "", page.url_retrieval_status or "")

    def runs(self) -> list[VendorRun]:
        runs: list[VendorRun] = []
        if self._queries:
            sources = [{"url": url, "title": title} for url, title in self._sources.items()]
            runs.append(VendorRun(_SEARCH, _json({"queries": [*self._queries]}), _json({"sources": sources})))
        if self._pages:
            pages = [{"url": url, "status": status} for url, status in self._pages.items()]
            failed = all(status != _SUCCESS for status in self._pages.values())
            runs.append(VendorRun(_PAGE_READER, _json({"urls": [*self._pages]}), _json({"pages": pages}), failed))
        return runs

    def sources(self) -> list[SourceFound]:
        return [SourceFound(url, title) for url, title in self._sources.items()]

    def _add_sources(self, places: Iterable[_Place]) -> None:
        for place in places:
            _keep(self._sources, place.uri or "", place.title or "")


def _keep(found: dict[str, _Found], key: str, value: _Found) -> None:
    if key and key not in found and len(found) < _MOST:
        found[key] = value


def _read(decoder: msgspec.json.Decoder[_Found], raw: msgspec.Raw) -> _Found | None:
    if not is_given(raw):
        return None
    try:
        return decoder.decode(raw)
    except READ_ERRORS:
        return None


def _json(value: object) -> str:
    return msgspec.json.encode(value).decode()
