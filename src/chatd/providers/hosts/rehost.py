"""Anthropic's body as hosts want it that name the model in the address: Bedrock and Vertex."""

import msgspec


def rehosted(body: bytes, *, version: str, without: frozenset[str], betas: tuple[str, ...] = ()) -> bytes:
    """The same JSON with the host's version in place of some fields; what they hold is not touched."""
    fields = msgspec.json.decode(body, type=dict[str, msgspec.Raw])
    kept = {name: value for name, value in fields.items() if name not in without}
    kept["anthropic_version"] = msgspec.Raw(msgspec.json.encode(version))
    if betas:
        kept["anthropic_beta"] = msgspec.Raw(msgspec.json.encode(betas))
    return msgspec.json.encode(kept)
