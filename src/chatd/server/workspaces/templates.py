"""Templates: made, changed and taken away by admins, seen by everyone."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any
from uuid import UUID

import asyncpg
import msgspec
from msgspec import UNSET

from chatd.clock import Clock
from chatd.core.access import Action, Kind, Person, Resource, Role, may
from chatd.core.errors import Conflict, InvalidRequest, NotFound, Validation
from chatd.core.workspaces.kinds import ProvisionerKind
from chatd.core.workspaces.parameters import Parameter, check_parameters, read_parameters
from chatd.core.workspaces.template_checks import CONFIG_MOST_BYTES, check_spans, check_template
from chatd.minting import uuid7
from chatd.store.constraints import UniqueConstraint
from chatd.store.queries import Template
from chatd.store.store import Store
from chatd.wire import templates as wire
from chatd.workspaces.lifecycle import Lifecycle


class Templates:
    def __init__(self, store: Store, lifecycle: Lifecycle, clock: Clock, organization_id: UUID) -> None:
        self._store = store
        self._lifecycle = lifecycle
        self._clock = clock
        self._organization_id = organization_id

    async def shown(self, person: Person) -> list[wire.Template]:
        """In the order of their names. Deprecated ones are for those who look after templates."""
        rows = await self._store.list_templates(organization_id=self._organization_id)
        sees_all = _sees_config(person)
        counts = await self._counts([row.id for row in rows])
        return [_shown(row, person, counts) for row in rows if sees_all or not row.deprecated]

    async def get(self, person: Person, id: UUID) -> wire.Template:
        """Also a deprecated one: there may be workspaces of it."""
        row = await self._store.get_template(id=id)
        if row is None:
            raise NotFound("Template")
        return await self._whole(row, person)

    async def create(self, person: Person, asked: wire.CreateTemplate) -> wire.Template:
        fields: dict[str, Any] = msgspec.structs.asdict(asked)
        config = _config_text(asked.config)
        self._check(fields, asked.parameters)
        self._check_config(person, Action.CREATE, asked.provisioner, config)
        fields |= {"config": config, "parameters": _parameters_text(asked.parameters), "created_by": person.user_id}
        id = uuid7(self._clock.now())
        with _taken_name_refused():
            row = await self._store.insert_template(id=id, organization_id=self._organization_id, **fields)
        return await self._whole(row, person)

    async def change(self, person: Person, id: UUID, asked: wire.UpdateTemplate) -> wire.Template:
        row = await self._store.get_template(id=id)
        if row is None:
            raise NotFound("Template")
        given = {name: value for name, value in msgspec.structs.asdict(asked).items() if value is not UNSET}
        parameters = read_parameters(row.parameters) if asked.parameters is UNSET else asked.parameters
        config = row.config if asked.config is UNSET else _config_text(asked.config)
        kept = {name: getattr(row, name) for name in asked.__struct_fields__}
        fields: dict[str, Any] = {**kept, **given}
        self._check(fields, parameters)
        if asked.config is not UNSET:
            self._check_config(person, Action.UPDATE, row.provisioner, config)
        fields |= {"config": config, "parameters": _parameters_text(parameters)}
        with _taken_name_refused():
            changed = await self._store.update_template(id=id, **fields)
        if changed is None:
            raise NotFound("Template")
        return await self._whole(changed, person)

    async def delete(self, id: UUID) -> None:
        """Not while there are workspaces of it: each start asks what it says. Raises NotFound, Conflict."""
        if await self._store.delete_template(id=id):
            return
        if await self._store.get_template(id=id) is None:
            raise NotFound("Template")
        count = (await self._counts([id])).get(id, 0)
        there, them = (f"There are {count} workspaces", "them") if count != 1 else ("There is a workspace", "it")
        detail = f"Delete {them} first; or deprecate the template, so that no new ones are made."
        raise Conflict(f"{there} of this template.", detail=detail)

    def _check(self, fields: dict[str, Any], parameters: Sequence[Parameter]) -> None:
        """All but the config, which is the provisioner's to check."""
        names = ("name", "display_name", "description", "icon", "readme", "deprecated")
        check_template(**{name: fields[name] for name in names})
        spans = ("default_ttl_ms", "activity_bump_ms", "max_lifetime_ms")
        check_spans(**{name: fields[name] for name in spans})
        check_parameters(parameters)

    def _check_config(self, person: Person, action: Action, kind: ProvisionerKind, config: str) -> None:
        """Only for who may store it: to others it would tell which kinds there are."""
        if may(person, action, Resource(Kind.TEMPLATE)):
            self._lifecycle.check_config(kind, config)

    async def _whole(self, row: Template, person: Person) -> wire.Template:
        return _shown(row, person, await self._counts([row.id]))

    async def _counts(self, ids: list[UUID]) -> dict[UUID, int]:
        rows = await self._store.count_template_workspaces(template_ids=ids)
        return {row.template_id: row.workspaces for row in rows}


def _sees_config(person: Person) -> bool:
    """It may name folders and hosts of the operator's."""
    return person.role is Role.AUDITOR or may(person, Action.UPDATE, Resource(Kind.TEMPLATE))


def _config_text(config: dict[str, Any]) -> str:
    text = msgspec.json.encode(config)
    if len(text) > CONFIG_MOST_BYTES:
        most = Validation("config", f"at most {CONFIG_MOST_BYTES} bytes of JSON")
        raise InvalidRequest("Check config.", validations=[most])
    return text.decode()


def _parameters_text(parameters: Sequence[Parameter]) -> str:
    return msgspec.json.encode(parameters).decode()


@contextmanager
def _taken_name_refused() -> Iterator[None]:
    try:
        yield
    except asyncpg.UniqueViolationError as error:
        if error.constraint_name != UniqueConstraint.TEMPLATES_NAME_KEY:
            raise
        raise Conflict(
            "There is a template of this name.", validations=[Validation("name", "already used by another template")]
        ) from error


def _shown(row: Template, person: Person, counts: dict[UUID, int]) -> wire.Template:
    return wire.Template(
        id=row.id,
        organization_id=row.organization_id,
        name=row.name,
        display_name=row.display_name,
        description=row.description,
        icon=row.icon,
        readme=row.readme,
        provisioner=row.provisioner,
        parameters=[_shown_parameter(each) for each in read_parameters(row.parameters)],
        agents_allowed=row.agents_allowed,
        allows_user_autostop=row.allows_user_autostop,
        default_ttl_ms=row.default_ttl_ms,
        activity_bump_ms=row.activity_bump_ms,
        max_lifetime_ms=row.max_lifetime_ms,
        deprecated=row.deprecated,
        workspace_count=counts.get(row.id, 0),
        created_at=row.created_at,
        updated_at=row.updated_at,
        config=msgspec.json.decode(row.config, type=dict[str, Any]) if _sees_config(person) else None,
    )


def _shown_parameter(each: Parameter) -> wire.TemplateParameter:
    return wire.TemplateParameter(
        name=each.name,
        type=each.type,
        display_name=each.display_name,
        description=each.description,
        required=each.required,
        default=each.default,
        mutable=each.mutable,
        ephemeral=each.ephemeral,
        options=list(each.options),
        regex=each.regex,
        regex_error=each.regex_error,
        min=each.min,
        max=each.max,
    )
