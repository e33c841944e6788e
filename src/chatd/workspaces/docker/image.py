"""An image that is there before a container is made of it."""

import re
from typing import Final
from urllib.parse import quote

from chatd.workspaces.docker.config import DockerConfig
from chatd.workspaces.docker.engine import Engine, EngineRefused
from chatd.workspaces.docker.inspected import Progress
from chatd.workspaces.provisioner import BuildFailed, BuildLog

_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._:/@-]*")


def image_name(text: str) -> str:
    """The same. A parameter may have made something else of it, which would lead elsewhere as a part of a path."""
    if not _NAME.fullmatch(text) or any(part in ("", ".", "..") for part in text.split("/")):
        raise BuildFailed(f"{text!r} is no name of an image.", detail="Change the parameter in it.", code="image")
    return text


async def ensure_image(engine: Engine, image: str, config: DockerConfig, log: BuildLog) -> None:
    """Pull it where the config says so; each layer's state goes into the log once. Raises BuildFailed."""
    if config.pull == "never" or (config.pull == "missing" and await _is_there(engine, image)):
        return
    log("image", f"Pulling {image}.")
    name, tag = _split(image)
    told: set[tuple[str, str]] = set()
    try:
        query = {"fromImage": name, **({"tag": tag} if tag else {})}
        async for line in engine.lines("/images/create", Progress, query=query):
            if line.error:
                raise EngineRefused(500, line.error)
            if line.status and (line.id, line.status) not in told:
                told.add((line.id, line.status))
                log("image", f"{line.id}: {line.status}" if line.id else line.status)
    except EngineRefused as refused:
        raise BuildFailed(
            f"The image {image} can't be pulled.",
            detail=f"{refused}. Check its name, or pull it by hand on the engine's machine.",
            code="image",
        ) from refused


async def _is_there(engine: Engine, image: str) -> bool:
    try:
        await engine.call("GET", f"/images/{quote(image, safe='/:@')}/json")
    except EngineRefused as refused:
        if refused.status == 404:
            return False
        raise BuildFailed(f"The image {image} can't be looked up.", detail=str(refused), code="image") from refused
    return True


def _split(image: str) -> tuple[str, str]:
    """Name and tag. An image that is named by its digest has none, and one without either means the latest."""
    if "@" in image:
        return image, ""
    name, colon, tag = image.rpartition(":")
    return (name, tag) if colon and "/" not in tag else (image, "latest")
