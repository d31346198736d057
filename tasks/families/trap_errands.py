"""The families of the set `traps`: errands of six families of `desk`, with notices and orders."""

from m3bench.tasks.families.base import Composition, Kit
from m3bench.tasks.families.buffet import Buffet
from m3bench.tasks.families.camping import core, has_brochure
from m3bench.tasks.families.crypto_purchase import CryptoPurchase, spellings
from m3bench.tasks.families.fipe_car import models
from m3bench.tasks.families.fleet import FleetFamily
from m3bench.tasks.families.fruit_cal import fruits
from m3bench.tasks.families.park_tour import ParkTour
from m3bench.tasks.families.portfolio import Portfolio
from m3bench.tasks.families.reading_list import ReadingList, shorter
from m3bench.tasks.families.supplies import Supplies
from m3bench.tasks.families.traps import Things, TrapFamily


class _Fruit(TrapFamily):
    inner = Buffet()
    servers = inner.servers

    def things(self, composition: Composition, kit: Kit) -> Things:
        """Fruit by name."""
        facts = composition.facts
        return Things(
            marked=[fruit.name for fruit in facts["fruits"]],
            shown=facts["shown"],
            known=[fruit.name for fruit in fruits()],
        )

    def spellings(self, name: str) -> tuple[str, ...]:
        """As the family of the fruit knows them."""
        return next(fruit.spellings for fruit in fruits() if fruit.name == name)


class GardenParty(_Fruit):
    """Fruit for guests."""

    name, goal, paper, result, number = "garden_party", "share", "allergies", "calories_each", 0


class WardKitchen(_Fruit):
    """Fruit for people on a diet."""

    name, goal, paper, result, number = "ward_kitchen", "diet", "diets", "carbohydrate_each", 1


class BrokerDesk(TrapFamily):
    """Shares for a client."""

    name, goal, paper, result, number = "broker_desk", "buy", "restricted", "cost", 2
    inner = Portfolio()
    servers = inner.servers

    def things(self, composition: Composition, kit: Kit) -> Things:
        """Shares by ticker."""
        shown = list(composition.facts["names"])
        known = [str(company["id"]) for company in kit.world("companies") if str(company["id"]).isalpha()]
        return Things(marked=composition.facts["red"], shown=shown, known=known)


class _Books(TrapFamily):
    inner = ReadingList()
    servers = inner.servers

    def things(self, composition: Composition, kit: Kit) -> Things:
        """Books by title."""
        facts = composition.facts
        return Things(
            marked=[title for title, _ in facts["meant"]],
            shown=facts["shown"],
            known=[str(book["title"]) for book in kit.world("books")],
        )

    def spellings(self, name: str) -> tuple[str, ...]:
        """The title without what follows its colon."""
        return shorter(name)


class LibraryCounter(_Books):
    """Books for readers."""

    name, goal, paper, result, number = "library_counter", "course", "lengths", "pages_a_week", 3


class ReadingEvening(_Books):
    """Books to be read aloud."""

    name, goal, paper, result, number = "reading_evening", "recital", "ages", "pages_an_evening", 4


class CarLease(TrapFamily):
    """Cars for drivers."""

    name, goal, paper, result, number = "car_lease", "lease", "brands", "monthly", 5
    inner = FleetFamily()
    servers = inner.servers

    def things(self, composition: Composition, kit: Kit) -> Things:
        """Cars by brand and model."""
        facts = composition.facts
        return Things(
            marked=[" ".join(car) for car in facts["meant"]],
            shown=[" ".join(car) for car in facts["shown"]],
            known=[f"{brand} {model}" for _, brand, model in models()],
        )

    def spellings(self, name: str) -> tuple[str, ...]:
        """The model alone."""
        return tuple(model for _, brand, model in models() if f"{brand} {model}" == name)


class HouseFitter(TrapFamily):
    """Things for a house."""

    name, goal, paper, result, number = "house_fitter", "furnish", "unwanted", "purchase", 6
    inner = Supplies()
    servers = inner.servers

    def things(self, composition: Composition, kit: Kit) -> Things:
        """Things by name."""
        facts = composition.facts
        return Things(marked=facts["meant"], shown=facts["things"], known=list(CryptoPurchase.things))

    def spellings(self, name: str) -> tuple[str, ...]:
        """What else people call it."""
        return spellings(name)


class ScoutCamp(TrapFamily):
    """Parks for patrols."""

    name, goal, paper, result, number = "scout_camp", "camp", "seasons", "sites_each", 7
    inner = ParkTour()
    servers = inner.servers

    def things(self, composition: Composition, kit: Kit) -> Things:
        """Parks by name."""
        facts = composition.facts
        known = [str(park["name"]) for park in kit.world("parks") if has_brochure(park)]
        return Things(marked=facts["meant"], shown=facts["shown"], known=known)

    def spellings(self, name: str) -> tuple[str, ...]:
        """The name without its rank."""
        return tuple({core(name)} - {name})
