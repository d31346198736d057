"""Every family, by name: one line each, in the order of the paper."""

from m3bench.tasks.families.barcode_lookup import BarcodeLookup
from m3bench.tasks.families.base import Family

_FAMILIES: tuple[Family, ...] = (BarcodeLookup(),)

FAMILIES = {family.name: family for family in _FAMILIES}
