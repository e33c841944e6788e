"""A tool made from a struct of arguments, a file of prose and a function."""

import re
from collections.abc import Awaitable, Callable
from typing import Final, Generic, TypeVar

import msgspec

from chatd.core.model import ToolSpec
from chatd.engine.tools.prose import prose_of
from chatd.engine.tools.schema import schema_of
from chatd.engine.tools.tool import AfterCrash, ToolCall, ToolContext, ToolOutput, Traits, failed

Args = TypeVar("Args", bound=msgspec.Struct)
Run = Callable[[Args, ToolContext], Awaitable[ToolOutput]]

_AT: Final = re.compile(r"^(?P<what>.*) - at `\$\.?(?P<field>[^`]*)`$", re.DOTALL)
_PLAIN: Final = Traits()
_MISSING: Final = re.compile(r"missing required field `(?P<name>[^`]*)`")


class TypedTool(Generic[Args]):
    """`Args` is frozen; the description of a field is `Annotated[…, Meta(description=…)]`.

    `context.key` is the key of the call. A keyed tool says with `settle` what came of a call that was cut off.
    """

    def __init__(
        self,
        name: str,
        args: type[Args],
        run: Run[Args],
        *,
        traits: Traits = _PLAIN,
        settle: Run[Args] | None = None,
        prose: str = "",
        told: type[msgspec.Struct] | None = None,
    ) -> None:
        """`prose` is for tools whose text depends on what there is; all others have a file. `told` is what models are
        told of the arguments, where more is understood than that."""
        if (settle is not None) is not (traits.after_crash is AfterCrash.KEYED):
            raise TypeError(f"The tool {name} must say how its calls are settled if they are keyed, and only then.")
        self.spec: Final = ToolSpec(name, prose or prose_of(name), schema_of(told or args))
        self.traits: Final = traits
        self._args = args
        self._decoder = msgspec.json.Decoder(args, strict=False)  # "10" is ten: models write it so
        self._run = run
        self._settle = settle

    async def run(self, call: ToolCall, context: ToolContext) -> ToolOutput:
        return await self._do(self._run, call, context)

    async def settle(self, call: ToolCall, context: ToolContext) -> ToolOutput:
        return await self._do(self._settle or self._run, call, context)

    async def _do(self, work: Run[Args], call: ToolCall, context: ToolContext) -> ToolOutput:
        try:
            args = self._decode(call.args)
        except (msgspec.DecodeError, ValueError, RecursionError) as error:
            return failed(_problem(error))
        return await work(args, msgspec.structs.replace(context, key=call.key))

    def _decode(self, args: str) -> Args:
        try:
            return self._decoder.decode(args)
        except msgspec.ValidationError:
            without = self._without_nulls(args)
            if without is None:
                raise
        return self._decoder.decode(without)  # outside: what is wrong now is all that is wrong

    def _without_nulls(self, args: str) -> bytes | None:
        """The arguments without those fields that are null and could have been left out: many models write all."""
        given = msgspec.json.decode(args, type=dict[str, msgspec.Raw])
        needed = {field.encode_name for field in msgspec.structs.fields(self._args) if field.required}
        kept = {name: value for name, value in given.items() if name in needed or bytes(value).strip() != b"null"}
        return msgspec.json.encode(kept) if len(kept) < len(given) else None


def _problem(error: Exception) -> str:
    """What is wrong with which argument."""
    text = str(error)
    found = _AT.match(text)
    field, what = (found["field"], found["what"]) if found else ("", text)
    if missing := _MISSING.search(what):
        name = f"{field}.{missing['name']}" if field else missing["name"]
        return f"The argument {name!r} is missing. Call the tool again with it."
    if field:
        return f"The argument {field!r} is wrong: {what}. Call the tool again."
    return f"The arguments are wrong: {what}. Call the tool again."
