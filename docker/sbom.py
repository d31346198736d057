"""Writes what an image is made of as a CycloneDX document: Debian's and Python's packages, versions and licences.

Run in a stage of the build that still has the lists of packages; what an earlier document lists is kept.
"""

import json
import os
import re
import sys
from glob import glob

DEBIAN = "/var/lib/dpkg/status"
SAME = re.compile(r"[-_.]+")
LOOKED_UP = {"resvg-py": "MIT"}
"""Python's packages whose metadata name no licence: as their licence files say."""


def main(libraries: str, target: str, earlier: str = "") -> None:
    """Write the document.

    Args:
        libraries: The folder that Python's packages were installed to.
        target: Where the document goes.
        earlier: A document whose packages are in the image too.
    """
    found = [*debian(), *python(libraries)]
    if earlier:
        with open(earlier, encoding="utf-8") as file:
            found += json.load(file)["components"]
    components = {str(component["purl"]): component for component in found}
    document = {
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "version": 1,
        "components": [components[purl] for purl in sorted(components)],
    }
    with open(target, "w", encoding="utf-8") as file:
        json.dump(document, file, indent=1, ensure_ascii=False, sort_keys=True)
        file.write("\n")


def debian() -> list[dict[str, object]]:
    """Debian's packages, with the licences that their copyright files name."""
    if not os.path.exists(DEBIAN):
        return []
    with open(DEBIAN, encoding="utf-8") as file:
        stanzas = file.read().split("\n\n")
    found = []
    for stanza in stanzas:
        fields = dict(re.findall(r"^([A-Za-z-]+): (.*)$", stanza, re.MULTILINE))
        if fields.get("Status", "").endswith(" installed"):
            name, version = fields["Package"], fields["Version"]
            purl = f"pkg:deb/debian/{name}@{version}?arch={fields['Architecture']}"
            found.append(component(name, version, purl, _copyright(name)))
    return found


def _copyright(package: str) -> list[str]:
    try:
        with open(f"/usr/share/doc/{package}/copyright", encoding="utf-8", errors="replace") as file:
            text = file.read()
    except OSError:
        return []
    named = sorted(set(re.findall(r"^License: *(\S[^\n]*?)\s*$", text, re.MULTILINE)))
    # Older files are prose; the licences that Debian has once for all are named by their place.
    common = sorted(set(re.findall(r"/usr/share/common-licenses/([A-Za-z0-9.+-]*[A-Za-z0-9])", text)))
    return named or common or sorted(set(re.findall(r"\b(?:LGPL|GPL|BSD|MIT|PSF|public domain)\b", text)))


def python(libraries: str) -> list[dict[str, object]]:
    """Python's packages, with the licences that they say they have."""
    found = []
    for path in glob(os.path.join(libraries, "*.dist-info", "METADATA")):
        with open(path, encoding="utf-8", errors="replace") as file:
            head = file.read().split("\n\n")[0]
        fields = re.findall(r"^([A-Za-z-]+): (.*)$", head, re.MULTILINE)
        values = dict(reversed(fields))
        name, version = SAME.sub("-", values["Name"]).lower(), values["Version"]
        said = [values.get("License-Expression") or values.get("License") or ""]
        if not said[0] or len(said[0]) > 80:
            said = [value.rpartition(" :: ")[2] for key, value in fields if value.startswith("License ::")]
        told = [text for text in (*said, LOOKED_UP.get(name, "")) if text]
        found.append(component(name, version, f"pkg:pypi/{name}@{version}", told))
    return found


def component(name: str, version: str, purl: str, licences: list[str]) -> dict[str, object]:
    """A package as CycloneDX writes it."""
    told = [{"license": {"name": licence}} for licence in licences]
    return {"type": "library", "name": name, "version": version, "purl": purl, "licenses": told}


if __name__ == "__main__":
    main(*sys.argv[1:])
