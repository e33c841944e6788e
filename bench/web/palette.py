"""Pictures of pages as small PNGs: 256 colours are enough for text, and a third of the size.

The browser that took a picture also reads its pixels and chooses the colours; what is left is to write them down.
"""

import base64
import struct
import zlib
from typing import Any, Final

from playwright.async_api import Page

# The commonest colours are kept as they are, then those that are least like any that is kept: a small red mark stays
# red. Each of the others becomes the nearest of them.
_REDUCE: Final = """async (picture) => {
    const blob = await (await fetch(`data:image/png;base64,${picture}`)).blob()
    const image = await createImageBitmap(blob)
    const { width, height } = image
    const context = new OffscreenCanvas(width, height).getContext("2d")
    context.drawImage(image, 0, 0)
    const pixels = new Uint32Array(context.getImageData(0, 0, width, height).data.buffer)
    const counts = new Map()
    for (const pixel of pixels) counts.set(pixel, (counts.get(pixel) ?? 0) + 1)
    const colours = [...counts].sort(([, one], [, other]) => other - one).map(([colour]) => colour)
    const parts = (colour) => [colour & 255, (colour >> 8) & 255, (colour >> 16) & 255]
    const known = []
    const places = new Map()
    const rest = colours.map((colour) => ({ colour, parts: parts(colour), far: Infinity }))
    const keep = (kept) => {
        const [red, green, blue] = kept.parts
        for (const one of rest) {
            const far = (one.parts[0] - red) ** 2 + (one.parts[1] - green) ** 2 + (one.parts[2] - blue) ** 2
            if (far >= one.far) continue
            one.far = far
            places.set(one.colour, known.length)
        }
        known.push(kept.parts)
    }
    rest.slice(0, 192).forEach(keep)
    const farthest = () => rest.reduce((most, one) => (one.far > most.far ? one : most))
    while (known.length < Math.min(256, rest.length)) keep(farthest())
    const indexes = Uint8Array.from(pixels, (pixel) => places.get(pixel))
    return { width, height, colours: known.flat(), indexes: indexes.toBase64() }
}"""


async def with_palette(page: Page, picture: bytes) -> bytes:
    """The same picture with at most 256 colours. `page` is any that has no policy against it, such as a blank one."""
    seen: dict[str, Any] = await page.evaluate(_REDUCE, base64.b64encode(picture).decode())
    width, height = seen["width"], seen["height"]
    indexes = base64.b64decode(seen["indexes"])
    # Each line begins with its filter: none.
    lines = b"".join(b"\0" + indexes[width * row : width * (row + 1)] for row in range(height))
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        (
            _chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 3, 0, 0, 0)),
            _chunk(b"PLTE", bytes(seen["colours"])),
            _chunk(b"IDAT", zlib.compress(lines, 9)),
            _chunk(b"IEND", b""),
        )
    )


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
