"""Rovers on Mars: sols, and which pictures each camera took on each of them.

Missions and their dates are true. How many pictures a camera took on a sol is seeded, with quiet sols now and
then and the cameras that were used only at landing or rarely; ids and addresses follow from rover and sol.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from functools import cache

from m3bench.sandboxes.world import clock, noise, tables

SOL = timedelta(seconds=88_775.244)

CAMERAS = {
    "FHAZ": "Front Hazard Avoidance Camera",
    "RHAZ": "Rear Hazard Avoidance Camera",
    "MAST": "Mast Camera",
    "CHEMCAM": "Chemistry and Camera Complex",
    "MAHLI": "Mars Hand Lens Imager",
    "MARDI": "Mars Descent Imager",
    "NAVCAM": "Navigation Camera",
    "PANCAM": "Panoramic Camera",
    "MINITES": "Miniature Thermal Emission Spectrometer (Mini-TES)",
}
_USES = {
    "FHAZ": (0.85, 8),
    "RHAZ": (0.7, 6),
    "MAST": (0.75, 90),
    "CHEMCAM": (0.5, 14),
    "MAHLI": (0.35, 40),
    "MARDI": (0.04, 4),
    "NAVCAM": (0.9, 40),
    "PANCAM": (0.7, 50),
    "MINITES": (0.02, 3),
}
"""Share of sols on which a camera is used, and the most pictures it takes then."""
_QUIET_SHARE = 0.04
_IDS_A_SOL = 300
_FIRST_IDS = {"curiosity": 58_870, "opportunity": 1_700_000, "spirit": 3_500_000}


@dataclass(frozen=True, kw_only=True)
class RoverPhoto:
    """One picture."""

    id: int
    sol: int
    day: date
    camera: str
    address: str


@dataclass(frozen=True, kw_only=True)
class Rover:
    """A rover and its mission."""

    id: str
    name: str
    status: str
    launch: date
    landing: date
    landed: datetime
    cameras: Sequence[str]
    last_sol: int

    def day(self, sol: int) -> date:
        """The day on Earth on which a sol began."""
        return (self.landed + sol * SOL).date()

    def sol(self, day: date) -> int | None:
        """The sol that began on a day on Earth; a sol is longer than a day, so that some days have none."""
        near = round((day - self.landing) / SOL)
        return next((sol for sol in (near - 1, near, near + 1) if sol >= 0 and self.day(sol) == day), None)

    def counts(self, sol: int) -> Mapping[str, int]:
        """Pictures by camera on a sol; cameras that took none are left out."""
        if not 0 <= sol <= self.last_sol:
            return {}
        draws = noise.generator_of("mars", self.id, sol)
        if draws.random() < _QUIET_SHARE and sol != self.last_sol:
            return {}
        found: dict[str, int] = {}
        for camera in self.cameras:
            share, most = _USES[camera]
            used, count = draws.random(), draws.random()
            if camera == "MARDI" and sol == 0:
                found[camera] = 24
            elif used < share:
                found[camera] = 1 + int(most * count**2)
        return found

    def photos(self, sol: int) -> list[RoverPhoto]:
        """The pictures of a sol, camera by camera."""
        first, day = _FIRST_IDS[self.id] + sol * _IDS_A_SOL, self.day(sol)
        taken = [camera for camera, count in self.counts(sol).items() for _ in range(count)]
        return [
            RoverPhoto(id=first + number, sol=sol, day=day, camera=camera, address=self._address(sol, camera, number))
            for number, camera in enumerate(taken)
        ]

    def _address(self, sol: int, camera: str, number: int) -> str:
        token = noise.token(9, "0123456789", "photo", self.id, sol, number)
        if self.id == "curiosity":
            return (
                f"https://mars.nasa.gov/msl-raw-images/proj/msl/redops/ods/surface/sol/{sol:05d}/{camera}_{token}.jpg"
            )
        letter = {"FHAZ": "f", "RHAZ": "r", "NAVCAM": "n", "PANCAM": "p", "MINITES": "m"}[camera]
        craft = "1" if self.id == "opportunity" else "2"
        return f"https://mars.nasa.gov/mer/gallery/all/{craft}/{letter}/{sol:03d}/{craft}{letter.upper()}{token}.JPG"


@cache
def rovers() -> Mapping[str, Rover]:
    """The rovers by id."""
    return {record["id"]: _rover(record) for record in tables.load("mars_rovers")}


def _rover(record: tables.Record) -> Rover:
    landed = datetime.fromisoformat(record["landed"])
    return Rover(
        id=record["id"],
        name=record["name"],
        status=record["status"],
        launch=date.fromisoformat(record["launch"]),
        landing=date.fromisoformat(record["landing"]),
        landed=landed,
        cameras=tuple(record["cameras"]),
        last_sol=record.get("last_sol", int((clock.NOW - landed) / SOL)),
    )
