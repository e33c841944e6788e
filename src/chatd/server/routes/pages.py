"""The page at `/`, for people who open the server in a browser."""

from importlib.resources import files

from litestar import MediaType, Response, get

_FOLDER = files("chatd.server").joinpath("pages")


@get("/", include_in_schema=False, media_type=MediaType.HTML)
async def welcome_page() -> str:
    return _FOLDER.joinpath("welcome.html").read_text("utf-8")


@get("/assets/welcome.css", include_in_schema=False)
async def welcome_style() -> Response[str]:
    return Response(
        _FOLDER.joinpath("welcome.css").read_text("utf-8"),
        media_type=MediaType.CSS,
        headers={"cache-control": "public, max-age=3600"},
    )
