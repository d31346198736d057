"""What the words of a detection prompt mean: plurals, spellings, synonyms and kinds.

A small table of plain English nouns, not a thesaurus: what a picture's author calls a thing by another name
belongs into the object's aliases. `match` says how closely a prompt's term fits an object, so that of several
terms the closest names it.
"""

import re
from collections.abc import Iterable
from enum import IntEnum
from functools import cache, lru_cache

from m3bench.tasks.scene import SceneObject

_SYNONYMS = """
person, human, human being, individual
construction worker, site worker, builder
hard hat, safety helmet, construction helmet
safety vest, high visibility vest, high vis vest, hi vis vest, hi viz vest, reflective vest
safety harness, fall harness
traffic cone, safety cone, road cone
guardrail, guard rail, railing, handrail, safety rail
scaffold, scaffolding
unguarded edge, open edge, exposed edge, unprotected edge
cable, wire, cord
suspended load, hanging load
steel beam, girder, i beam
rebar, reinforcing bar
heavy machinery, heavy equipment, heavy machine, construction machine
car, automobile
truck, lorry
motorcycle, motorbike
bicycle, bike
airplane, aeroplane, plane, aircraft
taxi, cab
train, railway train
ship, vessel
tv, television, television set
phone, cell phone, cellphone, mobile phone, smartphone, mobile
laptop, laptop computer, notebook computer
monitor, computer screen, screen
computer mouse, pc mouse
sofa, couch
cup, mug
glasses, eyeglasses, spectacles
handbag, purse
backpack, rucksack
suitcase, luggage
umbrella, parasol
trash can, garbage can, waste bin, rubbish bin, dustbin
flowerpot, flower pot, plant pot
flashlight, torch
wrench, spanner
tap, faucet
bandage, band aid, adhesive bandage
medicine box, medicine package, medication box
pill, capsule
sign, signboard, sign board
statue, sculpture
painting, picture
eggplant, aubergine
zucchini, courgette
corn, maize
chili, chilli, chili pepper, hot pepper
shrimp, prawn
french fries, fries
rabbit, bunny
hippopotamus, hippo
rhinoceros, rhino
donkey, ass
pig, hog
rooster, cock
ladybug, ladybird
mushroom, toadstool
"""

_KINDS = """
person: man, woman, child, worker, pedestrian, teacher, student, farmer, doctor, nurse, fisherman, chef, cook,
    driver, cyclist, tourist, hiker, scientist, researcher, police officer, firefighter, player, engineer, astronaut,
    artist, customer, passenger, angler, mechanic, dancer, singer, guard
worker: construction worker, engineer, electrician, welder, painter, carpenter, foreman, roofer
child: boy, girl, baby, toddler, kid
animal: bird, fish, insect, reptile, amphibian, mammal, crustacean, spider, snail, worm, jellyfish, octopus, squid,
    starfish, coral, mollusc
mammal: dog, cat, horse, cow, sheep, goat, pig, rabbit, hare, fox, wolf, bear, lion, tiger, leopard, elephant,
    giraffe, zebra, hippopotamus, rhinoceros, monkey, gorilla, kangaroo, koala, panda, deer, moose, camel, llama,
    squirrel, beaver, otter, badger, raccoon, skunk, hedgehog, bat, mouse, rat, hamster, whale, dolphin, seal, bison,
    buffalo, ox, donkey, bull, antelope, hyena, polar bear, orangutan, sloth
dog: puppy, poodle, guide dog, husky, beagle, collie
cat: kitten
horse: pony, foal
cow: calf, bull, ox
sheep: lamb, ram
pig: piglet, boar
bird: duck, goose, swan, chicken, rooster, hen, chick, turkey, eagle, hawk, falcon, owl, parrot, penguin, flamingo,
    peacock, pigeon, dove, sparrow, robin, crow, raven, seagull, gull, ostrich, toucan, woodpecker, kingfisher
chicken: hen, rooster, chick
fish: shark, salmon, trout, tuna, cod, bass, carp, mackerel, sardine, herring, pufferfish, goldfish, eel, perch, pike
insect: bee, butterfly, ant, beetle, ladybug, fly, mosquito, dragonfly, grasshopper, cricket, caterpillar, moth, wasp
reptile: snake, lizard, turtle, tortoise, crocodile, alligator
amphibian: frog, toad, salamander, newt
crustacean: crab, lobster, shrimp, krill
plant: tree, flower, grass, bush, shrub, cactus, herb, fern, moss, algae, seaweed, houseplant, seedling
tree: palm tree, pine, oak, birch, fir, spruce, maple
flower: rose, tulip, sunflower, daisy, lily, orchid, hibiscus, poppy, cherry blossom
food: fruit, vegetable, meat, bread, cheese, egg, rice, pasta, pizza, sandwich, hamburger, hot dog, french fries,
    cake, cookie, soup, salad, sushi, noodles, pancake, waffle, croissant, doughnut, chocolate, ice cream, pie, taco
fruit: apple, banana, orange, pear, grape, strawberry, cherry, peach, pineapple, mango, kiwi, watermelon, melon,
    lemon, lime, blueberry, raspberry, coconut, plum, apricot, fig, pomegranate, papaya, avocado, tangerine, grapefruit
vegetable: carrot, tomato, potato, onion, garlic, broccoli, cabbage, lettuce, spinach, cucumber, pepper, bell pepper,
    eggplant, corn, pea, bean, mushroom, celery, radish, beetroot, pumpkin, zucchini, cauliflower, leek, parsley
citrus fruit: orange, lemon, lime, grapefruit, tangerine
berry: strawberry, blueberry, raspberry, blackberry
meat: steak, beef, pork, ham, bacon, sausage, chicken leg, lamb chop, fillet
vehicle: car, truck, bus, van, motorcycle, bicycle, scooter, tram, train, tractor, ambulance, fire engine, boat,
    ship, airplane, helicopter, excavator, bulldozer, forklift, road roller, taxi, crane
heavy machinery: excavator, bulldozer, crane, road roller, forklift, cement mixer, loader
car: taxi, police car, sports car, sedan, suv, hatchback, station wagon, convertible, pickup
boat: sailboat, canoe, kayak, motorboat, rowing boat, rabelo boat, gondola, ferry, fishing boat
ship: cruise ship, container ship, cargo ship
furniture: chair, table, sofa, bed, desk, shelf, cupboard, wardrobe, stool, bench, bookcase, drawer
chair: armchair, office chair
building: house, skyscraper, tower, church, castle, temple, hut, school, hospital, factory, cathedral, mosque, office
tool: hammer, screwdriver, wrench, saw, drill, pliers, axe, shovel, pickaxe, spade, rake, tape measure, chisel
helmet: hard hat, bicycle helmet, motorcycle helmet
hat: cap, hard hat, top hat, beanie
clothing: shirt, t shirt, trousers, jeans, dress, skirt, jacket, coat, hat, shoe, sock, glove, scarf, safety vest
shoe: boot, sneaker, sandal
bag: handbag, backpack, suitcase, shopping bag, tote bag
container: box, bottle, jar, can, bucket, basket, barrel, crate
computer: laptop, desktop computer, tablet computer
ladder: stepladder, step ladder
barrier: guardrail, fence, barricade
"""

_PLURALS = """
people person, persons person, men man, women woman, children child, mice mouse, geese goose, feet foot,
teeth tooth, oxen ox, cacti cactus, knives knife, leaves leaf, loaves loaf, wolves wolf, calves calf,
shelves shelf, halves half, scarves scarf, hooves hoof, lives life, wives wife, axes axe, shoes shoe,
canoes canoe, toes toe, cookies cookie, pies pie, ties tie, movies movie, hoodies hoodie, brownies brownie,
zombies zombie, fungi fungus, larvae larva, kids kid, fishermen fisherman, algae algae, buses bus, gas gas,
species species
"""

_FILLERS = {"a", "an", "the", "some", "any", "all", "every", "each"}

_NOT_THEIR_LAST_WORD = {
    *("hot dog", "teddy bear", "guinea pig", "sea lion", "sea horse", "prairie dog", "rubber duck", "toy dog"),
    *("computer mouse", "pc mouse", "baseball bat", "cricket bat", "paper plane", "piggy bank", "model ship"),
}
"""Names whose last word says something else: a hot dog is no dog."""


class Closeness(IntEnum):
    """How a term fits an object; less is closer."""

    NAME = 0
    ALIAS = 1
    SYNONYM = 2
    LAST_WORD = 3
    KIND = 4


def terms(prompt: str) -> list[str]:
    """The terms of a prompt, as they were written and in order, without repetitions."""
    pieces = (" ".join(piece.split()) for piece in re.split(r"[.,;\n]+", prompt))
    return list(dict.fromkeys(piece for piece in pieces if plain(piece)))


@lru_cache(4096)
def plain(words: str) -> str:
    """Words in the form they are compared in: small letters, singular, without articles and hyphens."""
    parts = re.sub(r"[\W_]+", " ", words.replace("'s", "").casefold()).split()
    while len(parts) > 1 and parts[0] in _FILLERS:
        parts.pop(0)
    if parts and " ".join(parts) != "glasses":
        parts[-1] = singular(parts[-1])
    return " ".join(parts)


def singular(word: str) -> str:
    """A noun in the singular; one that is there already comes back as it is."""
    if word in _plurals():
        return _plurals()[word]
    if len(word) < 4 or not word.endswith("s") or word.endswith(("ss", "us", "is")):
        return word
    if word.endswith("ies"):
        return word[:-3] + "y"
    if word.endswith(("sses", "xes", "ches", "shes", "oes")) or (word.endswith("uses") and not word.endswith("ouses")):
        return word[:-2]
    return word[:-1]


def match(term: str, item: SceneObject) -> Closeness | None:
    """How closely a term fits an object, None when it does not.

    `red apple` fits an apple whose description says red.
    """
    words = plain(term).split()
    described = set(plain_words(item.description))
    for start in range(len(words)):
        if described.issuperset(words[:start]):
            found = _match_noun(" ".join(words[start:]), item)
            if found is not None:
                return found
    return None


def plain_words(text: str) -> list[str]:
    """The words of a text, each in the form it is compared in."""
    return [plain(word) for word in re.findall(r"\w+", text)]


def _match_noun(noun: str, item: SceneObject) -> Closeness | None:
    label = plain(item.label)
    aliases = [plain(alias) for alias in item.aliases]
    if _same(noun, label):
        return Closeness.NAME
    if any(_same(noun, alias) for alias in aliases):
        return Closeness.ALIAS
    names = {other for name in (label, *aliases) for other in (name, *_synonyms().get(_joined(name), ()))}
    if any(_same(noun, name) for name in names):
        return Closeness.SYNONYM
    if any(name.endswith(f" {noun}") and name not in _NOT_THEIR_LAST_WORD for name in names):
        return Closeness.LAST_WORD
    if _joined(noun) in _kinds_of(names):
        return Closeness.KIND
    return None


def _kinds_of(names: Iterable[str]) -> set[str]:
    """Everything the names are a kind of, however far up, with the synonyms of that."""
    found: set[str] = set()
    waiting = [*names]
    while waiting:
        name = waiting.pop()
        tails = [] if name in _NOT_THEIR_LAST_WORD else [name.rpartition(" ")[2]]
        for kind in {kind for part in (name, *tails) for kind in _kinds().get(_joined(part), ())}:
            if _joined(kind) not in found:
                found.update(map(_joined, (kind, *_synonyms().get(_joined(kind), ()))))
                waiting.append(kind)
    return found


def _same(one: str, other: str) -> bool:
    return _joined(one) == _joined(other)


def _joined(name: str) -> str:
    """`hard hat` and `hardhat` are the same."""
    return name.replace(" ", "")


@cache
def _plurals() -> dict[str, str]:
    """Irregular plural to singular."""
    return dict(pair.split() for pair in _PLURALS.replace("\n", " ").split(","))


@cache
def _synonyms() -> dict[str, tuple[str, ...]]:
    """Joined name to all names of its group."""
    groups = [tuple(plain(name) for name in line.split(",")) for line in _SYNONYMS.strip().splitlines()]
    return {_joined(name): group for group in groups for name in group}


@cache
def _kinds() -> dict[str, tuple[str, ...]]:
    """Joined name to what it is a kind of."""
    found: dict[str, tuple[str, ...]] = {}
    for line in _KINDS.strip().replace(",\n", ",").splitlines():
        kind, _, members = line.partition(":")
        for member in members.split(","):
            key = _joined(plain(member))
            found[key] = (*found.get(key, ()), plain(kind))
    return found
