"""The beginnings of images, of any size that they claim to have."""


def png(width: int, height: int) -> bytes:
    return b"\x89PNG\r\n\x1a\n\0\0\0\x0dIHDR" + width.to_bytes(4, "big") + height.to_bytes(4, "big")


def gif(width: int, height: int) -> bytes:
    return b"GIF89a" + width.to_bytes(2, "little") + height.to_bytes(2, "little")


def jpeg(width: int, height: int, frame: int = 0xC2) -> bytes:
    """With a comment, a table and a fill byte before the frame that tells its size."""
    before = b"\xff\xfe\0\x04hi" + b"\xff\xc4\0\x04\x11\x22" + b"\xff"
    size = b"\0\x11\x08" + height.to_bytes(2, "big") + width.to_bytes(2, "big")
    return b"\xff\xd8" + before + b"\xff" + bytes([frame]) + size + b"\x03"


def webp(kind: str, width: int, height: int) -> bytes:
    head = b"RIFF\0\0\0\0WEBP" + kind.encode() + b"\0\0\0\0"
    match kind:
        case "VP8 ":
            return head + b"\0\0\0\x9d\x01\x2a" + width.to_bytes(2, "little") + height.to_bytes(2, "little")
        case "VP8L":
            return head + b"\x2f" + (width - 1 | height - 1 << 14).to_bytes(4, "little")
        case _:
            return head + b"\0\0\0\0" + (width - 1).to_bytes(3, "little") + (height - 1).to_bytes(3, "little")
