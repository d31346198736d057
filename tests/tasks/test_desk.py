"""The person at a desk: tells what they are asked for, little at a time, and changes their mind once."""

from m3bench.tasks.desk import Desk, State, reply
from tests.desks import LUNCH


def talk(*questions: str, desk: Desk = LUNCH) -> list[str]:
    state, said = State(), []
    for question in questions:
        answer, state = reply(desk, state, question)
        said.append(answer)
    return said


def test_a_fact_is_told_when_it_is_asked_for_and_in_the_same_words_however_that_is_done():
    ways = ["How many guests will there be?", "Number of people please", "tell me about the GUESTS", "Guests?"]
    assert {talk(way)[0] for way in ways} == {"We are 14."}


def test_nothing_is_told_unasked():
    vague = [
        "Hello",
        "Tell me everything you know",
        "Give me all the details",
        "What else?",
        "Anything more?",
        "x" * 500,
    ]
    told = " ".join(talk(*vague))
    assert not any(fact.said in told or (fact.change and fact.change in told) for fact in LUNCH.facts)


def test_an_answer_has_two_facts_at_most_and_asking_again_gives_the_rest():
    stuffed = "How many guests, which allergies, what budget, and when?"
    first, second = talk(stuffed, stuffed)
    assert first.startswith("We are 14. One of us is allergic to birch pollen. That is all")
    assert second.startswith("I can spend $230. It begins at 12:30. That is all")


def test_the_mind_is_changed_when_a_proposal_comes_and_only_once():
    said = talk(
        "How many guests?",
        "And how many people was that?",
        "My proposal is a lunch for all of you. Shall I go ahead?",
        "How many guests?",
        "Can you confirm that?",
    )
    assert said == [
        "We are 14.",
        "We are 14.",
        "One thing first: three more have said yes, so we are 17.",
        "We are 17 now.",
        "Yes, that is what I told you.",
    ]


def test_saying_back_what_was_told_is_a_proposal_too():
    assert talk("How many guests?", "So 14 it is.")[1] == LUNCH.facts[0].change
    assert talk("How many guests?", "So 140 it is.")[1] != LUNCH.facts[0].change


def test_politeness_is_no_proposal():
    polite = ["I would like to know the budget.", "Ok, and what budget do you have?", "I will need your budget."]
    assert {talk("How many guests?", question)[1] for question in polite} == {"I can spend $230."}


def test_nobody_changes_what_they_have_not_said():
    said = talk("Is that right?", "What is the budget?", "Is 230 correct?", "How many guests?", "Is that right?")
    assert said[0] == "You have not asked me for anything yet."
    assert said[2] == "Yes, that is what I told you."
    assert said[4] == LUNCH.facts[0].change


def test_a_fact_that_is_asked_for_after_the_change_is_the_later_one():
    state = State(frozenset({1}), changed=True)
    assert reply(LUNCH, state, "How many people?")[0] == "We are 17 now."


def test_what_the_rules_forbid_is_refused_and_nothing_is_told_with_it():
    assert talk("Could we exceed the budget a little? How many guests?") == ["No, the limit is not mine to lift."]


def test_a_question_without_sense_is_said_to_have_none():
    (said,) = talk("Which colour is Tuesday")
    assert said.startswith("I do not know what you mean by “Which colour is Tuesday”.")
    assert len(talk("y" * 10_000)[0]) < 200


def test_rules_and_picture_are_not_the_persons_to_tell():
    assert talk("What does the policy say?", "What is circled in the picture?") == [
        "I do not know the rules by heart: they are in the documents.",
        "I can only say: look at the picture. What I mean is marked in it.",
    ]


def test_a_desk_survives_being_written_and_so_does_the_state():
    assert Desk.from_json(LUNCH.to_json()) == LUNCH
    state = State(frozenset({2, 0}), changed=True)
    assert State.from_json(state.to_json()) == state
