"""Every family, by name: one line each."""

from m3bench.tasks.families.barcode_lookup import BarcodeLookup
from m3bench.tasks.families.base import Family
from m3bench.tasks.families.biology_chain import BiologyChain
from m3bench.tasks.families.biology_cut import BiologyCut
from m3bench.tasks.families.class_demand import ClassDemand
from m3bench.tasks.families.generate_powerpoint import GeneratePowerpoint
from m3bench.tasks.families.hazard import Hazard

_FAMILIES: tuple[Family, ...] = (
    BarcodeLookup(),
    BiologyChain(),
    BiologyCut(),
    ClassDemand(),
    GeneratePowerpoint(),
    Hazard(),
)

FAMILIES = {family.name: family for family in _FAMILIES}
