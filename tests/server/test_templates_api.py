"""Templates over the API: what is stored and refused, and who is shown what."""

from typing import Any

import pytest

from server.configured_models import patch, wrong
from server.workspace_api import TEMPLATES, WORKSPACES

SIZE = {"name": "size", "type": "number", "default": "2", "min": 1, "max": 8}
NEW = {"name": "go", "provisioner": "local", "config": {"network": "off", "memory_mb": 512}, "parameters": [SIZE]}


async def test_a_template_is_made_changed_and_deleted(serving: Any):
    async with serving() as running:
        made = await running.owner.post(TEMPLATES, NEW)
        path = f"{TEMPLATES}/{made.body['id']}"
        same_name = await running.owner.post(TEMPLATES, NEW)
        changed = await patch(running.owner, path, display_name="Go", config={"network": "open"}, default_ttl_ms=60_000)
        listed = [each["name"] for each in (await running.owner.get(TEMPLATES)).body]
        deleted = await running.owner.delete(path)
        gone = [await running.owner.get(path), await running.owner.delete(path), await patch(running.owner, path)]
        again = await running.owner.post(TEMPLATES, NEW)

    assert made.status == 201, made
    assert made.body["config"] == {"network": "off", "memory_mb": 512}
    assert made.body["parameters"][0] == {
        "name": "size",
        "type": "number",
        "display_name": "",
        "description": "",
        "required": False,
        "default": "2",
        "mutable": True,
        "ephemeral": False,
        "options": [],
        "regex": "",
        "regex_error": "",
        "min": 1.0,
        "max": 8.0,
    }
    assert (made.body["agents_allowed"], made.body["activity_bump_ms"]) == (True, 3_600_000)
    assert same_name.status == 409
    assert same_name.body["validations"][0]["field"] == "name"
    assert (changed.body["display_name"], changed.body["config"]) == ("Go", {"network": "open"})
    assert (changed.body["default_ttl_ms"], changed.body["parameters"]) == (60_000, made.body["parameters"])
    assert listed == ["go", "local"]
    assert deleted.status == 204
    assert [answer.status for answer in gone] == [404] * 3
    assert again.status == 201


@pytest.mark.parametrize(
    ("body", "fields"),
    [
        ({"name": "Not A Name"}, ["name"]),
        ({"name": "x" * 33, "display_name": "x" * 129}, ["name", "display_name"]),
        ({"icon": "x" * 257}, ["icon"]),
        ({"readme": "x\0"}, ["readme"]),
        ({"default_ttl_ms": 1}, ["default_ttl_ms"]),
        ({"activity_bump_ms": -1}, ["activity_bump_ms"]),
        ({"parameters": [SIZE, SIZE]}, ["parameters.size"]),
        ({"parameters": [{"name": "a b"}]}, ["parameters[0].name"]),
        ({"parameters": [{**SIZE, "default": "9"}]}, ["parameters.size"]),
        ({"provisioner": "vmware"}, ["provisioner"]),
        ({"provisioner": "docker", "config": {"image": "x"}}, ["provisioner"]),
        ({"config": {"environment": {"CHATD_X": "1"}}}, ["environment.CHATD_X"]),
        ({"config": {"environment": {"A": "x" * 70_000}}}, ["config"]),
    ],
)
async def test_a_wrong_template_is_refused_by_the_name_of_its_field(
    serving: Any, body: dict[str, Any], fields: list[str]
):
    async with serving() as running:
        answer = await running.owner.post(TEMPLATES, {**NEW, **body})
        rows = (await running.owner.get(TEMPLATES)).body

    assert wrong(answer) == fields
    assert [row["name"] for row in rows] == ["local"]


async def test_a_change_is_checked_like_a_new_template(serving: Any):
    async with serving() as running:
        made = (await running.owner.post(TEMPLATES, NEW)).body
        path = f"{TEMPLATES}/{made['id']}"
        refused = [
            await patch(running.owner, path, name="Not A Name"),
            await patch(running.owner, path, max_lifetime_ms=1),
            await patch(running.owner, path, parameters=[SIZE, SIZE]),
            await patch(running.owner, path, config={"colour": 1}),
            await patch(running.owner, path, name="local"),
        ]
        after = (await running.owner.get(path)).body

    assert [answer.status for answer in refused] == [400, 400, 400, 400, 409]
    assert after == made


async def test_a_config_with_unknown_fields_is_refused_and_says_which(serving: Any):
    async with serving() as running:
        answer = await running.owner.post(TEMPLATES, {**NEW, "config": {"colour": 1}})

    assert answer.status == 400
    assert "colour" in answer.body["detail"]


async def test_members_are_shown_neither_configs_nor_deprecated_templates(serving: Any):
    async with serving() as running:
        old = (await running.owner.post(TEMPLATES, {**NEW, "name": "old", "deprecated": "Take local."})).body
        member, auditor = await running.add_user("mia"), await running.add_user("aud", "auditor")
        seen = {
            name: (await api.get(TEMPLATES)).body
            for name, api in {"member": member, "auditor": auditor, "admin": running.owner}.items()
        }
        one = (await member.get(f"{TEMPLATES}/{old['id']}")).body
        refused = [
            await member.post(TEMPLATES, NEW),
            await auditor.post(TEMPLATES, NEW),
            await patch(member, f"{TEMPLATES}/{old['id']}", name="x"),
            await auditor.delete(f"{TEMPLATES}/{old['id']}"),
        ]
        made = await member.post(WORKSPACES, {"template_id": old["id"]})

    assert [each["name"] for each in seen["member"]] == ["local"]
    assert all("config" not in each for each in [*seen["member"], one])
    assert [(each["name"], "config" in each) for each in seen["auditor"]] == [("local", True), ("old", True)]
    assert seen["admin"] == seen["auditor"]
    assert one["deprecated"] == "Take local."
    assert [answer.status for answer in refused] == [404] * 4
    assert made.status == 409
    assert made.body["detail"] == "Take local."


async def test_changes_of_templates_are_in_the_audit_log(serving: Any):
    async with serving() as running:
        made = (await running.owner.post(TEMPLATES, NEW)).body
        await patch(running.owner, f"{TEMPLATES}/{made['id']}", description="other")
        await running.owner.delete(f"{TEMPLATES}/{made['id']}")
        log = (await running.owner.get("/api/v2/audit?target_kind=template&limit=3")).body

    assert [(each["action"], each["actor"]["name"]) for each in reversed(log["entries"])] == [
        ("create", "olga"),
        ("update", "olga"),
        ("delete", "olga"),
    ], log
