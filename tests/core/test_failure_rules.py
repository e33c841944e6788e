"""The table decides alone: every member of every rule is reached, and no words outweigh better evidence."""

import json
import re

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from chatd.core.failure import (
    FailureKind,
    FailureSignals,
    Fault,
    Wording,
    classify,
    codes,
    error_payload,
    phrases,
    with_provider,
)
from chatd.core.failure.detail import DETAIL_LIMIT
from chatd.core.failure.evidence import BODY_LIMIT
from chatd.core.failure.phrases import Phrase
from chatd.core.failure.rules import RULES, Rule
from chatd.core.retry_after import LONGEST_HINT_SECONDS
from core.failing import NOW, answer, failure

BY_NAME = {rule.name: rule for rule in RULES}
ALL_PHRASES = [
    phrase
    for group in vars(phrases).values()
    if isinstance(group, tuple)
    for phrase in group
    if isinstance(phrase, Phrase)
]
ALL_CODES = sorted(code for group in vars(codes).values() if isinstance(group, frozenset) for code in group)


words = st.text(max_size=40) | st.sampled_from([phrase.example for phrase in ALL_PHRASES])
codes = st.sampled_from(ALL_CODES) | st.text(max_size=20)
scalars = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | words | codes
field_names = st.sampled_from(
    ["error", "message", "code", "type", "status", "details", "detail", "metadata", "raw", "retryDelay", "innererror"]
)
bodies = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(field_names | st.text(max_size=5), inner, max_size=4),
)
signals = st.builds(
    FailureSignals,
    fault=st.none() | st.sampled_from(Fault),
    http2_code=st.none() | st.integers(-1, 20),
    status_code=st.none() | st.integers(390, 600) | st.integers(),
    headers=st.dictionaries(
        st.sampled_from(["Retry-After", "retry-after-ms", "x-amzn-errortype"]) | st.text(max_size=5), words
    ),
    body=bodies.map(json.dumps) | st.binary(max_size=60) | st.text(max_size=60),
    content_type=st.sampled_from(["application/json", "text/plain; charset=utf-8", "text/html", ""])
    | st.text(max_size=10),
    provider=st.sampled_from(["anthropic", "openai_compat", "Azure OpenAI", ""]) | st.text(max_size=80),
    text=words,
    error_type=codes,
    error_code=codes,
)


def test_rules_have_names_of_their_own_and_the_last_takes_everything():
    assert len(BY_NAME) == len(RULES)
    assert RULES[-1] == Rule("anything_else", FailureKind.UNKNOWN, Wording.FAILED)


def triggers(rule: Rule) -> list[FailureSignals]:
    """Signals of which each shows one member of a rule's conditions, with nothing beside it."""
    content_type = rule.content_type
    if rule.faults:
        numbers = sorted(rule.http2_codes) or [None]
        return [FailureSignals(fault=f, http2_code=n, content_type=content_type) for f in rule.faults for n in numbers]
    if rule.codes:
        return [FailureSignals(error_code=code) for code in rule.codes] + [
            FailureSignals(error_type=code.upper()) for code in rule.codes
        ]
    if rule.phrases:
        statuses = sorted(rule.statuses) or [None]
        return [FailureSignals(text=phrase.example, status_code=s) for phrase in rule.phrases for s in statuses]
    taken = {
        status
        for other in RULES[: RULES.index(rule)]
        if not (other.codes or other.phrases)
        for status in other.statuses
    }
    return [FailureSignals(status_code=status) for status in rule.statuses - taken] or [FailureSignals()]


@pytest.mark.behaviour("ERR-1")
@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.name)
def test_every_member_of_every_rule_leads_to_that_rule(rule: Rule):
    for trigger in triggers(rule):
        found = classify(trigger, NOW)

        assert found.rule == rule.name, trigger
        assert (found.kind, found.retryable, found.wording) == (rule.kind, rule.is_retryable, rule.wording)


@pytest.mark.parametrize("phrase", ALL_PHRASES, ids=lambda phrase: phrase.words)
def test_every_phrase_occurs_in_its_own_example(phrase: Phrase):
    assert phrase.words == phrase.words.lower()
    assert phrase.is_in(phrase.example.lower())


def test_every_phrase_and_code_is_used_by_exactly_one_rule():
    by_words_alone = [phrase.words for rule in RULES if not rule.statuses for phrase in rule.phrases]
    assert sorted(by_words_alone) == sorted(phrase.words for phrase in ALL_PHRASES)
    assert sorted(code for rule in RULES for code in rule.codes) == ALL_CODES
    assert all(code == code.lower() for code in ALL_CODES)


@pytest.mark.behaviour("ERR-1")
def test_every_fault_and_every_kind_has_a_rule():
    assert {fault for rule in RULES for fault in rule.faults} == set(Fault)
    assert {rule.kind for rule in RULES} == set(FailureKind)


@given(signals)
def test_any_signals_give_a_failure_that_is_retryable_exactly_if_its_rule_says_so(given: FailureSignals):
    found = classify(given, NOW)

    rule = BY_NAME[found.rule]
    assert (found.kind, found.retryable) == (rule.kind, rule.is_retryable)
    assert found.status_code is None or 300 <= found.status_code <= 599
    assert found.message
    assert len(found.detail) <= DETAIL_LIMIT
    assert found.retry_after_seconds is None or 0 <= found.retry_after_seconds <= LONGEST_HINT_SECONDS
    payload = json.loads(msgspec.json.encode(error_payload(found)))
    assert "\0" not in json.dumps(payload, ensure_ascii=False)


@pytest.mark.behaviour("ERR-3")
@given(signals, st.sampled_from([{}, {"retry-after": "0"}, {"Retry-After": "3600"}, {"retry-after-ms": "x"}]))
def test_a_hint_in_the_headers_changes_nothing_but_the_hint(given: FailureSignals, headers: dict[str, str]):
    kept = {name: value for name, value in given.headers.items() if not name.lower().startswith("retry-after")}
    without = classify(msgspec.structs.replace(given, headers=kept), NOW)
    with_hint = classify(msgspec.structs.replace(given, headers={**kept, **headers}), NOW)

    assert msgspec.structs.replace(with_hint, retry_after_seconds=None) == msgspec.structs.replace(
        without, retry_after_seconds=None
    )


@pytest.mark.behaviour("ERR-2")
@given(st.sampled_from([401, 402, 407, 408, 409, 413, 424, 425, 498, 499, *range(500, 600)]), words, words)
def test_words_never_decide_against_a_status_that_settles_the_matter(status: int, text: str, message: str):
    bare = failure(status_code=status)
    worded = failure(status_code=status, text=text, body=message, content_type="text/plain")

    assert (worded.rule, worded.status_code) == (bare.rule, status)


@pytest.mark.behaviour("ERR-2")
@given(st.sampled_from(Fault), words)
def test_words_never_decide_against_what_the_transport_saw(fault: Fault, text: str):
    assert failure(fault=fault, text=text).rule == failure(fault=fault).rule


@pytest.mark.behaviour("ERR-2")
@given(st.sampled_from(ALL_CODES), words)
def test_words_never_decide_whether_to_retry_against_a_code(code: str, text: str):
    assert failure(error_code=code, text=text).retryable == failure(error_code=code).retryable


@given(st.sampled_from([400, 403, 404, 405, 410, 415, 422, 451]), words, st.none() | st.sampled_from(Fault))
def test_a_refused_request_is_never_retried_for_its_words_or_for_a_connection_lost_afterwards(
    status: int, text: str, fault: Fault | None
):
    assert not failure(status_code=status, text=text, fault=fault).retryable


@pytest.mark.parametrize(
    "hostile",
    [
        "a" * 10_000_000,
        "key=" * 2_000_000,
        "https://" * 1_000_000,
        "stream id 429 " * 500_000,
        "://@" * 2_000_000,
        "eof" * 3_000_000,
        "{" * 5_000_000,
        "Traceback (most recent call last)" * 100_000,
        "status " * 1_000_000,
        "\ud800" * 1_000_000,
    ],
    ids=lambda text: text[:8],
)
def test_ten_megabytes_of_anything_are_cut_before_they_are_searched(hostile: str):
    found = failure(text=hostile, body=hostile, provider=hostile, error_code=hostile, content_type=hostile)

    assert found.kind in FailureKind
    assert len(found.detail) <= DETAIL_LIMIT
    assert len(found.message) < 300


@pytest.mark.parametrize("depth", [20, BODY_LIMIT // 2])
def test_a_deep_body_is_read_as_no_body(depth: int):
    assert failure(status_code=503, body="[" * depth + "]" * depth).kind is FailureKind.TIMEOUT


def test_a_body_above_the_limit_is_not_read():
    error = {"error": {"code": "insufficient_quota", "message": "no money", "padding": "x" * BODY_LIMIT}}

    found = answer(429, error)

    assert (found.kind, found.detail) == (FailureKind.RATE_LIMIT, "")


@pytest.mark.parametrize("wording", Wording)
@pytest.mark.parametrize("provider", ["openai", ""])
def test_a_message_is_plain_sentences_without_codes(wording: Wording, provider: str):
    rule = next(rule for rule in RULES if rule.wording is wording)
    message = with_provider(classify(triggers(rule)[0], NOW), provider).message

    assert re.fullmatch(r"[A-Z][^{}!\d]*\.", message), message
