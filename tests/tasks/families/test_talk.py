"""The people of the families with a desk: asked in any of their ways they tell one thing, and only that."""

import itertools
import random
from functools import cache

import pytest

from m3bench.sandboxes.world.tables import load
from m3bench.tasks.desk import Desk, State, reply
from m3bench.tasks.families.base import Kit, Unfit
from m3bench.tasks.families.errands import DeskFamily, rules
from m3bench.tasks.families.registry import DESK
from m3bench.tasks.render.outline import Outline

every_family = pytest.mark.parametrize("name", DESK)


def texts(name: str) -> DeskFamily:
    found = DESK[name]
    assert isinstance(found, DeskFamily)
    return found


@cache
def desks(name: str, count: int = 6) -> list[Desk]:
    found: list[Desk] = []
    for number in range(200):
        try:
            desk = DESK[name].compose(random.Random(f"talk {name} {number}"), Kit(Outline(), load)).scene.desk
        except Unfit:
            continue
        assert desk is not None
        found.append(desk)
        if len(found) == count:
            break
    return found


@every_family
def test_every_way_to_ask_for_a_fact_gives_that_fact_alone(name):
    for desk in desks(name):
        for place, topic in enumerate(texts(name).topics.values()):
            for question in topic.ask:
                assert reply(desk, State(), question) == (desk.facts[place].said, State(frozenset({place}))), question


@every_family
def test_two_questions_in_one_give_both_facts(name):
    desk = desks(name)[0]
    for one, first in enumerate(texts(name).topics.values()):
        for other, second in enumerate(texts(name).topics.values()):
            if one < other:
                said, _ = reply(desk, State(), f"{first.ask[0]} {second.ask[0]}")
                assert said == f"{desk.facts[one].said} {desk.facts[other].said}"


@pytest.mark.sample(2)
@every_family
def test_questions_get_the_same_answers_in_any_order(name):
    topics = list(enumerate(texts(name).topics.values()))
    for (one, first), (other, second) in itertools.permutations(topics, 2):
        desk = desks(name)[0]
        for early, late in itertools.product(first.ask, second.ask):
            _, state = reply(desk, State(), early)
            assert reply(desk, state, late) == (desk.facts[other].said, State(frozenset({one, other}))), (early, late)


@every_family
def test_every_way_to_confirm_brings_the_change_of_mind(name):
    for desk in desks(name):
        for place, fact in enumerate(desk.facts):
            for confirm in texts(name).confirm:
                said, after = reply(desk, State(frozenset({place})), confirm.format(said=fact.said))
                assert said == (fact.change or "Yes, that is what I told you."), confirm
                assert after.changed == bool(fact.change)


@every_family
def test_each_person_changes_their_mind_about_something_that_each_goal_needs(name):
    for desk in desks(name):
        changing = [fact for fact in desk.facts if fact.change]
        assert len(changing) >= 3
        for fact in changing:
            assert fact.said != fact.later
            assert fact.value not in fact.change


@every_family
def test_what_the_rules_forbid_is_refused_in_so_many_words(name):
    for denial in texts(name).denials:
        desk = desks(name)[0]
        question = f"Could we {denial.wants[0]} the {denial.about[0]}?"
        assert reply(desk, State(), question)[0] in {said for one in texts(name).denials for said in one.said}


@every_family
def test_vague_questions_tell_nothing(name):
    desk = desks(name)[0]
    for question in ("Tell me everything.", "What do I need to know?", "Any details?", "Please help", "How many?"):
        said, after = reply(desk, State(), question)
        assert after == State(), (question, said)


@every_family
def test_documents_have_names_of_their_own_and_rules_where_they_have_any(name):
    for desk in desks(name):
        assert len({document.name for document in desk.documents}) == len(desk.documents) >= 4
        assert sum(len(rules(document.text)) >= 3 for document in desk.documents) == len(desk.documents) - 1
    assert len({document.name for desk in desks(name) for document in desk.documents}) > len(desks(name))


@every_family
def test_nothing_that_people_read_is_careless(name):
    found = texts(name)
    written = [text for topic in found.topics.values() for text in (*topic.ask, *topic.said, *topic.change)]
    written += [text for denial in found.denials for text in denial.said]
    assert all(text == " ".join(text.split()) and text[-1] in ".?!" for text in written)
    for topic in found.topics.values():
        assert len(topic.ask) >= 4
        assert len(topic.said) >= 3
        assert all("{value}" in text for text in (*topic.said, *topic.change))
