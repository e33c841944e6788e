"""How long the commit of a step holds its chat, by the number and the size of its tool results (LOOP-2).

Everything that is work on the payload (encoding, costs) happens before the one statement. What that takes in the server
is measured by Postgres, beside a bare INSERT of the same rows with an UPDATE, in the same run: the row is locked for
less than that.
"""

import asyncio
from time import perf_counter
from typing import TYPE_CHECKING

import asyncpg
import msgspec

from bench.processes import median
from bench.transitions import MODEL, REPLICA, Hushed, new_id
from chatd.core.messages import NewMessage
from chatd.core.parts import TextPart, ToolCallPart, ToolResultPart
from chatd.core.roles import Role
from chatd.core.stored_parts import encode_parts
from chatd.store.migrate import shipped_functions
from chatd.store.pool import connect
from chatd.store.queries import UserRole
from chatd.store.store import SqlStore
from chatd.store.transitions import Applied, Fence, NewChat, Take, Transitions
from chatd.testing.postgres import migrated_database

CASES = [(results, size) for size in (100, 20_000) for results in (1, 20, 100)]
STEPS = 15  # in a run
RUNS = 5
BARE = """
WITH inserted AS (
    INSERT INTO messages (chat_id, revision, role, visibility, compressed, deleted, content_version, content)
    SELECT $1, 1, role::message_role, 'both', false, false, 1, content
    FROM unnest($2::text[], $3::jsonb[]) AS given (role, content) RETURNING id
)
UPDATE chat_state SET updated_at = now() WHERE chat_id = $1 RETURNING (SELECT count(*) FROM inserted)
"""
_SPENT = "SELECT total_exec_time / calls FROM pg_stat_statements WHERE query LIKE '%' || $1 || '%' AND toplevel"

if TYPE_CHECKING:
    Connection = asyncpg.Connection[asyncpg.Record]


class Case(msgspec.Struct):
    """Milliseconds of each run."""

    encoding: list[float] = []
    held: list[float] = []
    bare: list[float] = []


async def main() -> None:
    async with migrated_database() as dsn:
        owner = await asyncpg.connect(dsn)
        await owner.execute("CREATE EXTENSION pg_stat_statements")
        name = await owner.fetchval("SELECT current_database()")
        await owner.execute(f"ALTER DATABASE \"{name}\" SET pg_stat_statements.track = 'top'")
        await owner.close()
        connection = await connect(dsn, function_schema=shipped_functions().schema)
        try:
            await _measure(connection)
        finally:
            await connection.close()


async def _measure(connection: "Connection") -> None:
    transitions = Transitions(SqlStore(connection), Hushed())  # pyright: ignore[reportArgumentType]
    fence = await _begun(connection, transitions)
    cases = {case: Case() for case in CASES}
    for _ in range(RUNS):
        for (results, size), case in cases.items():
            step = _step(results, size)
            begun = perf_counter()
            contents = [encode_parts(message.parts) for message in step]
            case.encoding.append((perf_counter() - begun) * 1000)
            await connection.execute("SELECT pg_stat_statements_reset()")
            for _ in range(STEPS):
                done = await transitions.commit_step(fence, step)
                assert isinstance(done, Applied), done
                fence = msgspec.structs.replace(fence, history_version=done.change.history_version)
                await connection.fetchval(BARE, fence.chat_id, [str(message.role) for message in step], contents)
            case.held.append(await connection.fetchval(_SPENT, "commit_step"))
            case.bare.append(await connection.fetchval(_SPENT, "WITH inserted"))
    print("tool results    before the statement    statement in the server    over bare INSERT + UPDATE")
    for (results, size), case in cases.items():
        ratio = median([held / bare for held, bare in zip(case.held, case.bare, strict=True)])
        print(
            f"{results:3} of {size:6,} B   {median(case.encoding):11.2f} ms encoding {median(case.held):17.2f} ms"
            f" {ratio:22.2f} x"
        )


async def _begun(connection: "Connection", transitions: Transitions) -> Fence:
    store = SqlStore(connection)
    organization = await store.get_default_organization()
    user = await store.insert_user(
        id=new_id(), email="a@example.com", username="ada", display_name="", password_hash="", role=UserRole.MEMBER
    )
    await connection.execute("SELECT set_config('chatd.transition', 'bench', false)")  # asked of bare writers too
    chat = NewChat(id=new_id(), organization_id=organization.id, owner_id=user.id, model_config_id=MODEL, title="bench")
    question = NewMessage(role=Role.USER, parts=(TextPart(text="hello"),), created_by=user.id)
    made = await transitions.create_chat(chat, [question], take=Take(REPLICA, new_id()))
    assert isinstance(made, Applied)
    assert made.fence is not None
    return made.fence


def _step(results: int, size: int) -> list[NewMessage]:
    ids = [f"call_{number}" for number in range(results)]
    calls = tuple(ToolCallPart(tool_call_id=id, tool_name="read", args='{"path":"a"}') for id in ids)
    said = [ToolResultPart(tool_call_id=id, tool_name="read", result='"' + "line\\n" * (size // 6) + '"') for id in ids]
    return [
        NewMessage(role=Role.ASSISTANT, parts=calls, model_config_id=MODEL),
        *(NewMessage(role=Role.TOOL, parts=(part,)) for part in said),
    ]


if __name__ == "__main__":
    asyncio.run(main())
