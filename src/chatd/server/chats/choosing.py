"""Which model a message is for, and which files it brings: what a request names must be there and usable."""

from collections.abc import Sequence
from uuid import UUID

import msgspec

from chatd.core.chat_input import GivenPart, input_parts
from chatd.core.errors import ChatdError, InvalidRequest, NotFound, Validation
from chatd.core.parts import FilePart, Part
from chatd.engine.models import Models, ResolvedModel
from chatd.store.store import Store


async def chosen_model(models: Models, config_id: UUID | None) -> ResolvedModel:
    """The one that was named, else the default. Raises InvalidRequest when it can't be used."""
    try:
        model = await (models.default_model() if config_id is None else models.model_for(config_id))
    except NotFound:
        raise _wrong_model("no such model") from None
    except ChatdError as error:
        raise _wrong_model(error.message) from error
    if model is None:
        raise InvalidRequest("No model is configured.", detail="Ask an administrator to add one.")
    if not model.is_enabled:
        raise _wrong_model("this model is switched off")
    return model


async def named_model(models: Models, config_id: UUID | None) -> UUID | None:
    """Checks the model that was named; None when none was, which leaves the chat with what it has."""
    return None if config_id is None else (await chosen_model(models, config_id)).config_id


async def given_parts(store: Store, given: Sequence[GivenPart]) -> tuple[Part, ...]:
    """What was given, checked, with the names and types of its files."""
    return tuple(
        [await _with_file(store, place, part) for place, part in enumerate(input_parts(given))]
        if any(part.type == "file" for part in given)
        else input_parts(given)
    )


async def _with_file(store: Store, place: int, part: Part) -> Part:
    if not isinstance(part, FilePart) or part.file_id is None:
        return part
    file = await store.get_file_metadata(id=part.file_id)
    if file is None:
        wrong = Validation(f"content[{place}].file_id", "no such file, or not yours")
        raise InvalidRequest("Check content.", validations=[wrong])
    return msgspec.structs.replace(part, name=file.name, media_type=file.media_type)


def _wrong_model(rule: str) -> InvalidRequest:
    return InvalidRequest("Check model_config_id.", validations=[Validation("model_config_id", rule)])
