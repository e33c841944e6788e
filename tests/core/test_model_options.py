"""How hard a model is told to think: within what is configured and what it knows."""

from hypothesis import given
from hypothesis import strategies as st

from chatd.core.model import Capabilities
from chatd.core.model_options import CapabilityOverrides, EffortRange, ModelOptions, without_empty
from chatd.core.reasoning import ReasoningEffort

EFFORTS = list(ReasoningEffort)
efforts = st.sampled_from(EFFORTS)


@given(efforts, efforts, st.none() | efforts, st.sets(efforts, min_size=1))
def test_an_effort_is_one_that_the_model_knows_and_never_more_than_asked_or_allowed(
    default: ReasoningEffort, most: ReasoningEffort, asked: ReasoningEffort | None, scale: set[ReasoningEffort]
):
    chosen = EffortRange(default, most).clamp(asked, list(scale))
    allowed = EffortRange(default, most).selectable(list(scale))

    assert list(allowed) == [
        effort for effort in EFFORTS if effort in scale and EFFORTS.index(effort) <= EFFORTS.index(most)
    ]
    if not allowed:
        assert chosen is min(scale, key=EFFORTS.index)  # the model refuses anything else
        return
    assert chosen in allowed
    wanted = EFFORTS.index(default if asked is None else asked)
    assert EFFORTS.index(chosen) <= wanted or chosen is allowed[0]
    assert all(EFFORTS.index(effort) > wanted or effort == chosen for effort in allowed[allowed.index(chosen) + 1 :])


def test_an_operator_knows_better_than_the_catalogue():
    known = Capabilities(images=True, temperature=False)
    said = CapabilityOverrides(images=False)
    assert said.apply(known) == Capabilities(images=False, temperature=False)


def test_empty_objects_say_nothing():
    empty = ModelOptions(capabilities=CapabilityOverrides(), provider_options={"openai": {}})
    assert without_empty(empty) == ModelOptions()
