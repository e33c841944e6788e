"""What each transition makes of a chat that it is allowed on: one function per transition, over a few that they share.

The chat that comes in has its next `snapshot` already.
"""

from collections.abc import Callable, Mapping
from typing import Final
from uuid import UUID

import msgspec

from chatd.core.chat_limits import MOST_QUEUED
from chatd.core.chat_model.values import Call, ChatModel, Content, Entry, ToolCall, Waiting
from chatd.core.outcomes import Refusal
from chatd.core.roles import Role
from chatd.core.states import State, Status
from chatd.core.transitions import Transition


def changed(chat: ChatModel, **fields: object) -> ChatModel:
    return msgspec.structs.replace(chat, **fields)


# What transitions are made of


def add(chat: ChatModel, *contents: Content) -> ChatModel:
    entries = tuple(Entry(chat.minted + at, content) for at, content in enumerate(contents, start=1))
    return changed(
        chat, messages=chat.messages + entries, minted=chat.minted + len(entries), history=chat.snapshot
    )  # fmt: skip


def _enqueue(chat: ChatModel, text: str) -> ChatModel:
    waiting = Waiting(chat.minted + 1, text)
    return changed(chat, queue=(*chat.queue, waiting), minted=chat.minted + 1, queue_version=chat.snapshot)


def _cancel(chat: ChatModel, calls: tuple[ToolCall, ...]) -> ChatModel:
    """Every call gets a result that says why there is none."""
    return add(chat, *(Content(Role.TOOL, answers=(call.id,)) for call in calls)) if calls else chat


def _forget(chat: ChatModel) -> ChatModel:
    """Attempts, retry and draft were about a history that has changed, or a turn that is over."""
    version = chat.retry_version if chat.retry is None else chat.snapshot
    return changed(chat, attempt=0, retry=None, retry_version=version, draft=None)


def _begin(chat: ChatModel) -> ChatModel:
    started = changed(chat, status=Status.RUNNING, error=None, compaction_requested=False, takeovers=0)
    return _forget(changed(started, history=chat.snapshot))


def _rest(chat: ChatModel, status: Status, error: str | None = None) -> ChatModel:
    stopped = changed(chat, status=status, error=error, owner=None, takeovers=0, compaction_requested=False)
    return _forget(stopped)


def _promote(chat: ChatModel) -> ChatModel:
    """The first that nobody holds is the user's next message, over calls that all have results."""
    head = next(each for each in chat.queue if each.holder is None)
    rest = tuple(each for each in chat.queue if each.id != head.id)
    settled = _cancel(changed(chat, queue=rest, queue_version=chat.snapshot), chat.open_calls)
    return _begin(add(settled, Content(Role.USER, head.text)))


def _end(chat: ChatModel) -> ChatModel:
    if not any(each.holder is None for each in chat.queue):
        return _rest(chat, Status.WAITING)
    return changed(_promote(chat), attempt=1)


def _park(chat: ChatModel, error: str | None) -> ChatModel:
    return _rest(_cancel(chat, chat.open_calls), Status.ERROR, error or "")


def _keep_written(chat: ChatModel, rows: tuple[Content, ...]) -> ChatModel:
    """What a turn that stops had written: the rows that its runner brings, or the draft."""
    written = rows or (() if chat.draft is None else (chat.draft,))
    return add(chat, *written) if written else chat


def take(chat: ChatModel, call: Call) -> ChatModel:
    if call.taker is None or chat.owner is not None or not _reaches(call.taker[0], chat.host, call):
        return chat
    return changed(chat, owner=call.taker, attempt=1)


def _reaches(replica: UUID, host: str | None, call: Call) -> bool:
    """Whether a replica's machine is the one that the workspace is on, if it is on any that is there."""
    return host is None or host not in call.machines.values() or call.machines.get(replica) == host


def _found(chat: ChatModel, queued_id: int) -> Waiting | None:
    return next((each for each in chat.queue if each.id == queued_id), None)


# One function per transition


def _send(chat: ChatModel, call: Call) -> ChatModel | Refusal:
    text = call.text or ""
    if chat.state in (State.W, State.E0):
        return take(_begin(add(_cancel(chat, chat.open_calls), Content(Role.USER, text))), call)
    if len(chat.queue) >= MOST_QUEUED:
        return Refusal.QUEUE_FULL
    waiting = _enqueue(chat, text)
    if chat.status is Status.ERROR:
        return take(_promote(waiting), call)
    if call.interrupts and chat.status is Status.RUNNING:
        return changed(waiting, status=Status.INTERRUPTING)
    if call.interrupts and chat.status is Status.REQUIRES_ACTION:
        return take(_begin(_cancel(waiting, chat.open_dynamic_calls)), call)
    return waiting


def _edit(chat: ChatModel, call: Call) -> ChatModel | Refusal:
    edited = next((entry for entry in chat.shown if entry.id == call.target), None)
    if edited is None:
        return Refusal.MESSAGE_NOT_FOUND
    if edited.content.role is not Role.USER:
        return Refusal.MESSAGE_NOT_USERS
    kept = tuple(Entry(e.id, e.content, deleted=e.deleted or e.id >= edited.id) for e in chat.messages)
    version = chat.snapshot if chat.queue else chat.queue_version
    cut = changed(chat, messages=kept, queue=(), queue_version=version)
    return take(_begin(add(_cancel(cut, cut.open_calls), Content(Role.USER, call.text or ""))), call)


def _interrupt(chat: ChatModel, call: Call) -> ChatModel:
    if chat.status is Status.RUNNING:
        return changed(chat, status=Status.INTERRUPTING)
    return _cancel_action(chat, call)


def _compact(chat: ChatModel, call: Call) -> ChatModel | Refusal:
    if not any(entry.content.role is Role.ASSISTANT for entry in chat.shown):
        return Refusal.NOTHING_TO_SUMMARISE
    return take(changed(_begin(chat), compaction_requested=True), call)


def _complete(chat: ChatModel, call: Call) -> ChatModel | Refusal:
    answers = [answer for row in call.rows for answer in row.answers]
    pending = {each.id for each in chat.open_dynamic_calls}
    if len(set(answers)) < len(answers):
        return Refusal.RESULT_REPEATED
    if pending - set(answers):
        return Refusal.RESULT_MISSING
    if set(answers) - pending:
        return Refusal.RESULT_UNEXPECTED
    return _begin(add(chat, *call.rows))


def _delete(chat: ChatModel, call: Call) -> ChatModel | Refusal:
    if _found(chat, call.target) is None:
        return Refusal.QUEUED_NOT_FOUND
    kept = tuple(each for each in chat.queue if each.id != call.target)
    return changed(chat, queue=kept, queue_version=chat.snapshot)


def _send_now(chat: ChatModel, call: Call) -> ChatModel | Refusal:
    wanted = _found(chat, call.target)
    if wanted is None:
        return Refusal.QUEUED_NOT_FOUND
    order = (Waiting(wanted.id, wanted.text), *(each for each in chat.queue if each.id != wanted.id))
    if order != chat.queue:
        chat = changed(chat, queue=order, queue_version=chat.snapshot)
    if chat.status in (Status.RUNNING, Status.INTERRUPTING):
        return changed(chat, status=Status.INTERRUPTING)
    return take(_promote(chat), call)


def _reorder(chat: ChatModel, call: Call) -> ChatModel | Refusal:
    by_id = {each.id: each for each in chat.queue}
    if sorted(call.order) != sorted(by_id):
        return Refusal.QUEUE_CHANGED
    order = tuple(by_id[id] for id in call.order)
    return chat if order == chat.queue else changed(chat, queue=order, queue_version=chat.snapshot)


def _set_holder(chat: ChatModel, queued_id: int, holder: UUID | None, text: str | None = None) -> ChatModel:
    queue = tuple(Waiting(e.id, text or e.text, holder) if e.id == queued_id else e for e in chat.queue)
    return changed(chat, queue=queue, queue_version=chat.snapshot)


def _hold(chat: ChatModel, call: Call) -> ChatModel | Refusal:
    wanted = _found(chat, call.target)
    if wanted is None:
        return Refusal.QUEUED_NOT_FOUND
    if wanted.holder not in (None, call.holder):
        return Refusal.QUEUED_HELD
    return _set_holder(chat, wanted.id, call.holder)


def _release(chat: ChatModel, call: Call) -> ChatModel | Refusal:
    wanted = _found(chat, call.target)
    if wanted is None:
        return Refusal.QUEUED_NOT_FOUND
    if wanted.holder is None:
        return Refusal.QUEUED_NOT_HELD
    if call.holder not in (None, wanted.holder):
        return Refusal.QUEUED_HELD
    freed = _set_holder(chat, wanted.id, None, call.text)
    return take(_promote(freed), call) if chat.status is Status.WAITING else freed


def _acquire(chat: ChatModel, call: Call) -> ChatModel:
    assert call.taker is None or _reaches(call.taker[0], chat.host, call), "a chat was acquired on another machine"
    return changed(chat, owner=call.taker, takeovers=chat.takeovers + (chat.owner is not None))


def _bind(chat: ChatModel, call: Call) -> ChatModel | Refusal:
    if chat.owner is not None and not _reaches(chat.owner[0], call.host, call):
        return Refusal.RUNS_ELSEWHERE
    return changed(chat, host=call.host)


def _attempt(chat: ChatModel, call: Call) -> ChatModel:
    version = chat.retry_version if chat.retry is None else chat.snapshot
    return changed(chat, attempt=chat.attempt + 1, retry=None, retry_version=version)


def _retry(chat: ChatModel, call: Call) -> ChatModel:
    return chat if chat.retry == call.text else changed(chat, retry=call.text, retry_version=chat.snapshot)


def _commit(chat: ChatModel, call: Call) -> ChatModel:
    stepped = add(chat, *call.rows)
    if call.finish:
        return _end(stepped)
    marker = stepped.compaction_requested and not call.compacted
    return changed(_forget(stepped), attempt=1, takeovers=0, compaction_requested=marker)


def _enter_action(chat: ChatModel, call: Call) -> ChatModel | Refusal:
    if not chat.open_dynamic_calls:
        return Refusal.NOTHING_TO_WAIT_FOR
    return changed(chat, status=Status.REQUIRES_ACTION)


def _cancel_action(chat: ChatModel, call: Call) -> ChatModel:
    return _begin(_cancel(chat, chat.open_dynamic_calls))


def _finish_interruption(chat: ChatModel, call: Call) -> ChatModel:
    written = _keep_written(chat, call.rows)
    return _end(_cancel(written, written.open_calls))


RULES: Final[Mapping[Transition, Callable[[ChatModel, Call], ChatModel | Refusal]]] = {
    Transition.SEND_MESSAGE: _send,
    Transition.EDIT_MESSAGE: _edit,
    Transition.INTERRUPT: _interrupt,
    Transition.REQUEST_COMPACTION: _compact,
    Transition.COMPLETE_REQUIRES_ACTION: _complete,
    Transition.ARCHIVE: lambda chat, call: changed(chat, archived=True),
    Transition.UNARCHIVE: lambda chat, call: changed(chat, archived=False),
    Transition.BIND_WORKSPACE: _bind,
    Transition.RECONCILE_INVALID: lambda chat, call: _park(changed(chat, archived=False), call.text),
    Transition.DELETE_QUEUED: _delete,
    Transition.PROMOTE_QUEUED: _send_now,
    Transition.REORDER_QUEUED: _reorder,
    Transition.HOLD_QUEUED: _hold,
    Transition.RELEASE_QUEUED: _release,
    Transition.ACQUIRE: _acquire,
    Transition.ABANDON: lambda chat, call: changed(chat, owner=None),
    Transition.RECORD_ATTEMPT: _attempt,
    Transition.RECORD_RETRY: _retry,
    Transition.SAVE_DRAFT: lambda chat, call: changed(chat, draft=call.rows[0]),
    Transition.COMMIT_STEP: _commit,
    Transition.ENTER_REQUIRES_ACTION: _enter_action,
    Transition.CANCEL_REQUIRES_ACTION: _cancel_action,
    Transition.FINISH_TURN: lambda chat, call: _end(chat),
    Transition.FINISH_INTERRUPTION: _finish_interruption,
    Transition.FINISH_ERROR: lambda chat, call: _park(_keep_written(chat, call.rows), call.text),
    Transition.GIVE_UP: lambda chat, call: _park(_keep_written(chat, ()), call.text),
}
