"""OpenRouter's details of reasoning, put together from the pieces that are streamed.

They must go back unchanged where they are signed or encrypted. Others say no more than the text of the reasoning does.
"""

import msgspec

from chatd.providers.protocols.openai.chat_chunks import ReasoningDetail


class _Detail:
    __slots__ = ("said", "summaries", "texts")

    def __init__(self, said: ReasoningDetail) -> None:
        self.said = said
        self.texts = [said.text] if said.text else []
        self.summaries = [said.summary] if said.summary else []

    def continues_with(self, piece: ReasoningDetail) -> bool:
        return (self.said.type, self.said.index) == (piece.type, piece.index) and not piece.data

    def add(self, piece: ReasoningDetail) -> None:
        if piece.text:
            self.texts.append(piece.text)
        if piece.summary:
            self.summaries.append(piece.summary)
        self.said.signature = piece.signature or self.said.signature
        self.said.id = piece.id or self.said.id

    def whole(self) -> msgspec.Raw:
        self.said.text = "".join(self.texts) or self.said.text
        self.said.summary = "".join(self.summaries) or self.said.summary
        return msgspec.Raw(msgspec.json.encode(self.said))


class StreamedDetails:
    """The details of one block of reasoning."""

    __slots__ = ("_all",)

    def __init__(self) -> None:
        self._all: list[_Detail] = []

    def add(self, pieces: list[ReasoningDetail]) -> None:
        for piece in pieces:
            if self._all and self._all[-1].continues_with(piece):
                self._all[-1].add(piece)
            else:
                self._all.append(_Detail(piece))

    def kept(self) -> tuple[msgspec.Raw, ...]:
        """Nothing unless something is signed or encrypted."""
        if not any(detail.said.signature or detail.said.data for detail in self._all):
            return ()
        return tuple(detail.whole() for detail in self._all)
