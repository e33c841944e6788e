"""list_templates and read_template: what a workspace can be made from."""

from typing import Annotated, Any, Final
from uuid import UUID

import msgspec
from msgspec import Meta

from chatd.core.errors import Forbidden
from chatd.core.workspaces.offering import RECENTLY, Advice, Offered, rank
from chatd.core.workspaces.parameters import Parameter, read_parameters
from chatd.core.workspaces.readmes import shown_readme
from chatd.engine.acting_for import owner_of
from chatd.engine.tools.tool import AfterCrash, ToolContext, ToolOutput, Traits, answered, failed
from chatd.engine.tools.typed import TypedTool
from chatd.store.actor import acting_as
from chatd.store.queries import Template
from chatd.store.store import Store

_EXCERPT: Final = 1000  # characters of a README in a list
_README: Final = 8000  # and of the one that is read
_MOST_DESCRIPTION: Final = 300  # of a template in a list, and of a parameter
_READS: Final = Traits(after_crash=AfterCrash.RERUN)

_NEXT_STEP: Final = {
    Advice.USE_RECOMMENDED: (
        "Call create_workspace with recommended_template_id, unless the person has asked for something else."
    ),
    Advice.ASK_USER: "None of these stands out. Ask the person which one to take, and name the likeliest.",
    Advice.NO_MATCH: "Nothing matches the query. Call list_templates without one.",
    Advice.NONE_AVAILABLE: "There are no templates, so that no workspace can be made. Tell the person.",
}


class ListArgs(msgspec.Struct, frozen=True):
    query: Annotated[str | None, Meta(description="What to look for in names and descriptions.")] = None
    page: Annotated[int, Meta(description="Which page, from 1 on.")] = 1


class ReadArgs(msgspec.Struct, frozen=True):
    template_id: Annotated[UUID, Meta(description="Id of the template, from list_templates.")]


class TemplateTools:
    """With the rights of the chat's owner."""

    def __init__(self, store: Store) -> None:
        self._store = store

    async def list(self, args: ListArgs, context: ToolContext) -> ToolOutput:
        try:
            with acting_as(await owner_of(self._store, context.owner_id)):
                rows = await self._store.list_offered_templates(
                    owner_id=context.owner_id, recently=RECENTLY, organization_id=context.organization_id
                )
        except Forbidden as error:
            return failed(error.message)
        readmes = {row.id: row.readme for row in rows}
        offered = [
            Offered(
                id=row.id,
                name=row.name,
                display_name=row.display_name,
                description=row.description,
                developers=row.developers,
                own_active=row.own_active,
                own_recently_deleted=row.own_recently_deleted,
                own_last_used_at=row.last_used_at,
            )
            for row in rows
        ]
        ranked = rank(offered, context.clock.now(), query=args.query or "", page=args.page)
        said: dict[str, Any] = {
            "templates": [_listed(each, readmes[each.id]) for each in ranked.templates],
            "page": ranked.page,
            "next_step": _NEXT_STEP[ranked.advice],
        }
        if ranked.next_page is not None:
            said["next_page"] = ranked.next_page
        if ranked.recommended is not None:
            said["recommended_template_id"] = ranked.recommended
        return answered(said)

    async def read(self, args: ReadArgs, context: ToolContext) -> ToolOutput:
        try:
            with acting_as(await owner_of(self._store, context.owner_id)):
                template = await self._store.get_template(id=args.template_id)
        except Forbidden as error:
            return failed(error.message)
        if template is None or template.organization_id != context.organization_id or not template.agents_allowed:
            return failed("There is no such template for you. Call list_templates, and use an id that it gives.")
        if template.deprecated:
            return failed(f"This template is not to be used any more: {template.deprecated} Call list_templates.")
        return answered({"template": _described(template), "parameters": _asked_for(template)})


def _listed(template: Offered, readme: str) -> dict[str, Any]:
    return {
        "id": template.id,
        "name": template.name,
        **_unless_empty("display_name", template.display_name),
        **_unless_empty("description", shown_readme(template.description, _MOST_DESCRIPTION)),
        **_unless_empty("readme_excerpt", shown_readme(readme, _EXCERPT)),
        **_unless_empty("active_developers", template.developers),
        **_unless_empty("your_workspace_count", template.own_active),
        **_unless_empty("last_used_by_you", template.own_last_used_at),
    }


def _described(template: Template) -> dict[str, Any]:
    return {
        "id": template.id,
        "name": template.name,
        **_unless_empty("display_name", template.display_name),
        **_unless_empty("description", template.description),
        **_unless_empty("readme", shown_readme(template.readme, _README)),
    }


def _asked_for(template: Template) -> list[dict[str, Any]]:
    return [
        {**_fields(each), "required": each.required, "mutable": each.mutable}
        for each in read_parameters(template.parameters)
    ]


def _fields(parameter: Parameter) -> dict[str, Any]:
    """As it is stored, with a description that is cut."""
    cut = msgspec.structs.replace(parameter, description=shown_readme(parameter.description, _MOST_DESCRIPTION))
    return {"name": cut.name, "type": cut.type, **msgspec.to_builtins(cut)}


def _unless_empty(name: str, value: object) -> dict[str, object]:
    return {name: value} if value else {}


def template_tools(store: Store) -> tuple[TypedTool[ListArgs], TypedTool[ReadArgs]]:
    tools = TemplateTools(store)
    return (
        TypedTool("list_templates", ListArgs, tools.list, traits=_READS),
        TypedTool("read_template", ReadArgs, tools.read, traits=_READS),
    )
