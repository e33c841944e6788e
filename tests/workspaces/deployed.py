"""A database with a person and a template, and replicas that build workspaces there."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any
from uuid import UUID

from chatd.clock import Clock, SystemClock
from chatd.core.access import Person, Role
from chatd.core.messages import NewMessage
from chatd.core.parts import TextPart
from chatd.core.roles import Role as MessageRole
from chatd.observe.metrics import Metrics
from chatd.store.actor import acting_as
from chatd.store.authorized import AuthorizedStore
from chatd.store.authorizer import RoleAuthorizer
from chatd.store.encrypted import EncryptedStore
from chatd.store.migrate import shipped_functions
from chatd.store.pool import open_pool
from chatd.store.queries import GetWorkspaceRow, UserRole, WorkspaceBuild
from chatd.store.store import SqlStore, Store
from chatd.store.transitions import Applied, NewChat, Take, Transitions
from chatd.workspaces.lifecycle import NewWorkspace
from chatd.workspaces.running import Workspaces, running_workspaces
from engine.deployment import LocalHints, new_id
from store.world import CIPHER, add_template, add_user
from workspaces.folders import FolderProvisioner

PATIENCE = 30


class Deployed:
    """`person` owns all that is made here. Hints reach all replicas of the process."""

    def __init__(self, pool: Any, dsn: str, user_id: UUID, organization_id: UUID, template_id: UUID) -> None:
        self.pool = pool
        self.dsn = dsn
        self.sql = SqlStore(pool)
        self.store: Store = AuthorizedStore(EncryptedStore(self.sql, CIPHER), RoleAuthorizer())
        self.hints = LocalHints()
        self.person = Person(user_id, Role.MEMBER, "mia")
        self.organization_id = organization_id
        self.template_id = template_id
        self.transitions = Transitions(self.sql, self.hints)

    def new(self, **fields: Any) -> NewWorkspace:
        given: dict[str, Any] = {
            "owner_id": self.person.user_id,
            "organization_id": self.organization_id,
            "template_id": self.template_id,
            **fields,
        }
        return NewWorkspace(**given)

    async def beat(self, replica_id: UUID, host_id: str = "here", provisioners: Sequence[str] | None = None) -> None:
        """A replica that has been beating for long."""
        await self.sql.beat_replica(
            id=replica_id, url="", host="test", pid=1, version="1", host_id=host_id, provisioners=provisioners
        )
        await self.pool.execute(
            "UPDATE replicas SET beating_since = now() - interval '1 hour' WHERE id = $1", replica_id
        )

    @asynccontextmanager
    async def replica(
        self, *provisioners: FolderProvisioner, host_id: str = "here", clock: Clock | None = None, **options: Any
    ) -> AsyncIterator[Workspaces]:
        replica_id = options.pop("replica_id", None) or new_id()
        await self.beat(replica_id, host_id)
        async with running_workspaces(
            self.store,
            self.hints,
            provisioners,
            Metrics().workspaces,
            clock=clock or SystemClock(),
            replica_id=replica_id,
            host_id=host_id,
            **options,
        ) as workspaces:
            yield workspaces

    async def created(self, workspaces: Workspaces, **fields: Any) -> WorkspaceBuild:
        """A workspace of the person, when its first build is over."""
        with acting_as(self.person):
            build = await workspaces.lifecycle.create(self.new(**fields))
            return await workspaces.lifecycle.wait(build.id, seconds=60)

    async def add_user(self, name: str) -> UUID:
        return (await add_user(self.sql, name, UserRole.OWNER)).id

    async def until(self, question: str) -> None:
        """Until the database says yes."""
        async with asyncio.timeout(PATIENCE):
            while not await self.pool.fetchval(question):
                await self.pool.execute("SELECT pg_sleep(0.01)")

    async def workspace(self, id: UUID) -> GetWorkspaceRow:
        found = await self.sql.get_workspace(id=id)
        assert found is not None
        return found

    async def chat(
        self, workspace_id: UUID | None = None, *, take: Take | None = None, dynamic_tools: str = "[]"
    ) -> Applied:
        chat = NewChat(
            id=new_id(),
            organization_id=self.organization_id,
            owner_id=self.person.user_id,
            model_config_id=new_id(),
            title="A chat",
            workspace_id=workspace_id,
            dynamic_tools=dynamic_tools,
        )
        message = NewMessage(role=MessageRole.USER, parts=(TextPart(text="hello"),), created_by=self.person.user_id)
        made = await self.transitions.create_chat(chat, [message], take=take)
        assert isinstance(made, Applied), made
        return made


@asynccontextmanager
async def deployed(dsn: str) -> AsyncIterator[Deployed]:
    async with open_pool(dsn, function_schema=shipped_functions().schema, size=8) as pool:
        sql = SqlStore(pool)
        user = await add_user(sql, "mia", UserRole.MEMBER)
        organization = await sql.get_default_organization()
        template_id = await add_template(sql)
        yield Deployed(pool, dsn, user.id, organization.id, template_id)


def short_folder(path: Path) -> Path:
    """Sockets have short paths."""
    path.mkdir(parents=True, exist_ok=True)
    return path
