"""Every family, by name: one line each.

Those of the bundled set `m3` stand in the order of the paper. Those of the set `desk` have a person who must be asked and
documents with rules, those of the set `studio` a draft that must be looked at and revised, those of the set `recordings`
sound or film in place of a picture, those of the set `snapshots` several photographs, those of the set `traps` questions
without an answer and orders in what is read; all of them are made when somebody names them.
"""

from m3bench.tasks.families.announcement import Announcement
from m3bench.tasks.families.attraction import Attraction
from m3bench.tasks.families.balance import Balance
from m3bench.tasks.families.barcode_lookup import BarcodeLookup
from m3bench.tasks.families.base import Family
from m3bench.tasks.families.biology_chain import BiologyChain
from m3bench.tasks.families.biology_cut import BiologyCut
from m3bench.tasks.families.bookstall import Bookstall
from m3bench.tasks.families.buffet import Buffet
from m3bench.tasks.families.camping import Camping
from m3bench.tasks.families.chart_axis import ChartAxis
from m3bench.tasks.families.chimes import Chimes
from m3bench.tasks.families.class_demand import ClassDemand
from m3bench.tasks.families.crypto_purchase import CryptoPurchase
from m3bench.tasks.families.delivery import DeliveryFamily
from m3bench.tasks.families.dictation import Dictation
from m3bench.tasks.families.drug import Drug
from m3bench.tasks.families.fair_map import FairMap
from m3bench.tasks.families.fipe_car import FipeCar
from m3bench.tasks.families.fish import Fish
from m3bench.tasks.families.fleet import FleetFamily
from m3bench.tasks.families.floor_plan import FloorPlan
from m3bench.tasks.families.food_reddit_wiki_excel import FoodRedditWikiExcel
from m3bench.tasks.families.form import Form
from m3bench.tasks.families.fruit_cal import FruitCal
from m3bench.tasks.families.generate_powerpoint import GeneratePowerpoint
from m3bench.tasks.families.glimpse import Glimpse
from m3bench.tasks.families.hazard import Hazard
from m3bench.tasks.families.heatmap import Heatmap
from m3bench.tasks.families.hugeicons import Hugeicons
from m3bench.tasks.families.icon_sheet import IconSheet
from m3bench.tasks.families.items_price import ItemsPrice
from m3bench.tasks.families.kitchen_scale import KitchenScale
from m3bench.tasks.families.larder import Larder
from m3bench.tasks.families.med_excel import MedExcel
from m3bench.tasks.families.medical import Medical
from m3bench.tasks.families.movies import Movies
from m3bench.tasks.families.museum import Museum
from m3bench.tasks.families.nixos_diagnostic import NixosDiagnostic
from m3bench.tasks.families.park_tour import ParkTour
from m3bench.tasks.families.portfolio import Portfolio
from m3bench.tasks.families.poster import PosterFamily
from m3bench.tasks.families.qr_attraction import QrAttraction
from m3bench.tasks.families.reading_list import ReadingList
from m3bench.tasks.families.report import ReportFamily
from m3bench.tasks.families.research_station import ResearchStation
from m3bench.tasks.families.routine import Routine
from m3bench.tasks.families.seating import SeatingFamily
from m3bench.tasks.families.signposts import Signposts
from m3bench.tasks.families.slides import Slides
from m3bench.tasks.families.stock_growth import StockGrowth
from m3bench.tasks.families.supplies import Supplies
from m3bench.tasks.families.timetable import Timetable
from m3bench.tasks.families.trap_errands import (
    BrokerDesk,
    CarLease,
    GardenParty,
    HouseFitter,
    LibraryCounter,
    ReadingEvening,
    ScoutCamp,
    WardKitchen,
)
from m3bench.tasks.families.travel_comparison import TravelComparison
from m3bench.tasks.families.vision_research import VisionResearch
from m3bench.tasks.families.voicemail import Voicemail

_FAMILIES: tuple[Family, ...] = (
    ItemsPrice(),
    Attraction(),
    Movies(),
    VisionResearch(),
    Camping(),
    Fish(),
    Drug(),
    Hazard(),
    FoodRedditWikiExcel(),
    MedExcel(),
    BarcodeLookup(),
    BiologyCut(),
    FruitCal(),
    Medical(),
    QrAttraction(),
    Routine(),
    BiologyChain(),
    GeneratePowerpoint(),
    TravelComparison(),
    Heatmap(),
    Museum(),
    ResearchStation(),
    Hugeicons(),
    CryptoPurchase(),
    StockGrowth(),
    FipeCar(),
    ClassDemand(),
    NixosDiagnostic(),
)

_DESK: tuple[Family, ...] = (
    Buffet(),
    Portfolio(),
    ReadingList(),
    FleetFamily(),
    Supplies(),
    ParkTour(),
)

_STUDIO: tuple[Family, ...] = (
    ChartAxis(),
    PosterFamily(),
    FloorPlan(),
    IconSheet(),
    Form(),
    ReportFamily(),
    Slides(),
    Balance(),
    Timetable(),
)

_RECORDINGS: tuple[Family, ...] = (
    Dictation(),
    Voicemail(),
    Chimes(),
    Announcement(),
    Signposts(),
    Glimpse(),
)

_SNAPSHOTS: tuple[Family, ...] = (
    Larder(),
    Bookstall(),
    KitchenScale(),
    DeliveryFamily(),
    FairMap(),
    SeatingFamily(),
)

_TRAPS: tuple[Family, ...] = (
    GardenParty(),
    WardKitchen(),
    BrokerDesk(),
    LibraryCounter(),
    ReadingEvening(),
    CarLease(),
    HouseFitter(),
    ScoutCamp(),
)

FAMILIES = {family.name: family for family in _FAMILIES}
DESK = {family.name: family for family in _DESK}
STUDIO = {family.name: family for family in _STUDIO}
RECORDINGS = {family.name: family for family in _RECORDINGS}
SNAPSHOTS = {family.name: family for family in _SNAPSHOTS}
TRAPS = {family.name: family for family in _TRAPS}
EVERY = {**FAMILIES, **DESK, **STUDIO, **RECORDINGS, **SNAPSHOTS, **TRAPS}
