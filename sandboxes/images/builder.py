"""Builds the images: collects wheels, writes the context, hands it to the engine and reports what happens.

The build runs without a network; only the base image may be pulled, when the engine has none of that name.
"""

import re
import tarfile
from collections.abc import Callable, Iterable, Sequence
from io import BytesIO
from pathlib import Path
from tempfile import TemporaryDirectory, TemporaryFile
from typing import NamedTuple

from docker.errors import APIError, DockerException, ImageNotFound
from docker.utils import parse_repository_tag

from m3bench.sandboxes.backends.docker import image
from m3bench.sandboxes.backends.docker.engine import Client
from m3bench.sandboxes.images import context, wheels
from m3bench.sandboxes.images.wheels import Target
from m3bench.tasks.errors import UserError

BASE = "python:3.11.14-slim-bookworm@sha256:65a93d69fa75478d554f4ad27c85c1e69fa184956261b4301ebaf6dbb0a3543d"
"""Python on Debian 12, without compilers; the digest is that of the index over all machines."""

SERVICE = "m3bench"
"""The name of the service's image."""

WORKER = "m3bench-worker"
"""The name of the image of what plays studies."""

SBOM = "/m3bench/sbom.json"
"""Where the software bill of materials (SBOM, CycloneDX) lies in an image."""

STEP_SECONDS = 600
"""Time for one step of a recipe."""

Report = Callable[[str], None]
"""Called with what is being done, a line at a time."""

_QUESTION = (
    "import platform, sys; print('.'.join(map(str, sys.version_info[:3])), platform.machine(), platform.libc_ver()[1])"
)
_TAIL_LINES = 6
_LINE = 100
_COLOURS = re.compile(r"\x1b\[[0-9;]*m")
_WORK = (" : RUN ", " : COPY ")
_CHATTER = ("--->", "Removing intermediate", "Successfully")


class Layer(NamedTuple):
    """A part of an image."""

    bytes: int
    made_by: str


class Built(NamedTuple):
    """An image that was made."""

    name: str
    id: str
    bytes: int
    layers: tuple[Layer, ...]
    """Those that take space, from the bottom."""


def build(
    client: Client,
    base: str,
    source: Path | None,
    report: Report,
    *,
    service: bool = True,
    models: Sequence[str] = (),
    sound: bool = False,
) -> list[Built]:
    """Make the image that sandboxes run from, on top of it that of the service, and on top of that one that of workers.

    Args:
        client: The engine's.
        base: The image to start from: Linux with Python and glibc.
        source: A folder to take wheels from; the package index when None.
        report: Told what is being done.
        service: Whether the second one is wanted.
        models: The packages of models' providers for workers; without any, the third one is not made.
        sound: Whether tools can hear and watch: the libraries of the set `recordings` go into all of them.

    Raises:
        UserError: One cannot be made; the message has the remedy.
    """
    inner = wheels.sandbox(sound=sound)
    target = look_at(client, base, report)
    with TemporaryDirectory(prefix="m3bench-image-") as place:
        inside, on_top, plays = Path(place) / "sandbox", Path(place) / "service", Path(place) / "worker"
        report(f"collecting wheels for Python {target.python} on {target.machine}")
        wheels.collect(target, inner, inside, source=source)
        built = [_build_sandbox(client, base, inside, report)]
        if service:
            report("collecting the service's wheels")
            wheels.collect(target, wheels.service(), on_top, source=source)
            wheels.collect_driver(target, on_top, source=source)
            built.append(_build_service(client, base, inside, on_top, report))
        if service and models:
            report("collecting the workers' wheels")
            wheels.collect(target, [*wheels.worker(), *models], plays, source=source)
            built.append(_build_worker(client, base, (inside, on_top), plays, report))
    return built


def read_sbom(client: Client, name: str) -> bytes:
    """The SBOM of an image, as its build wrote it."""
    holder = client.create_container(name)
    try:
        chunks, _ = client.get_archive(holder, SBOM)
        with tarfile.open(fileobj=BytesIO(b"".join(chunks))) as archive:
            found = archive.extractfile(archive.getmembers()[0])
            assert found is not None
            return found.read()
    finally:
        client.remove_container(holder, force=True)


def _build_sandbox(client: Client, base: str, folder: Path, report: Report) -> Built:
    arguments = {"BASE": base, "VERSION": image.installed_version(), "MANIFEST": image.manifest()}
    return _build(client, image.reference(), "sandbox.Dockerfile", context.sandbox(folder), arguments, report)


def _build_service(client: Client, base: str, inside: Path, folder: Path, report: Report) -> Built:
    """Make the image of the service out of the wheels that are not in the sandbox's, and the installer."""
    _leave_out(inside, folder)
    arguments = {
        "BASE": base,
        "SANDBOX": image.reference(),
        "VERSION": image.installed_version(),
        "MANIFEST": context.service_manifest(),
    }
    name = f"{SERVICE}:{image.installed_version()}"
    return _build(client, name, "server.Dockerfile", context.service(folder), arguments, report)


def _build_worker(client: Client, base: str, below: Iterable[Path], folder: Path, report: Report) -> Built:
    """Make the image of workers out of the wheels that are in neither of the others, and the installer."""
    for wheels_folder in below:
        _leave_out(wheels_folder, folder)
    service = f"{SERVICE}:{image.installed_version()}"
    arguments = {
        "BASE": base,
        "SERVICE": service,
        "VERSION": image.installed_version(),
        "MANIFEST": context.service_manifest(),
    }
    name = f"{WORKER}:{image.installed_version()}"
    return _build(client, name, "worker.Dockerfile", context.worker(folder), arguments, report)


def _leave_out(below: Path, folder: Path) -> None:
    """Remove from a folder the wheels that the image below has; the installer goes up with it."""
    for wheel in below.iterdir():
        (folder / wheel.name).unlink(missing_ok=True)
        if wheel.name.startswith(f"{wheels.INSTALLER}-"):
            wheel.rename(folder / wheel.name)


def look_at(client: Client, base: str, report: Report) -> Target:
    """What an image runs on, asked of the image itself."""
    if _id(client, base) is None:
        _pull(client, base, report)
    try:
        python, machine, glibc = _ask(client, base).split()
        return Target(python, machine, int(glibc.partition(".")[2]))
    except (APIError, ValueError) as error:
        raise UserError(f"The image {base} cannot be used as a base: it needs python3 and glibc ({error}).") from error


def _ask(client: Client, base: str) -> str:
    config = client.create_host_config(network_mode="none", log_config={"Type": "json-file"})
    asked = client.create_container(
        base, ["-I", "-c", _QUESTION], entrypoint="python3", user="10001:10001", host_config=config
    )
    try:
        client.start(asked)
        client.wait(asked)
        said: str = client.logs(asked).decode(errors="replace")
        return said
    finally:
        client.remove_container(asked, force=True)


def _pull(client: Client, base: str, report: Report) -> None:
    report(f"pulling {base}")
    repository, tag = parse_repository_tag(base)
    reason = "it came to nothing"
    try:
        client.pull(repository, tag=tag or "latest")
    except DockerException as error:
        reason = _explanation(error)
    if _id(client, base) is None:
        raise UserError(
            f"The engine has no image {base} and cannot pull it ({reason}). "
            "Give --base an image it has: any Debian 12 with python3 will do, docs/sandboxes.md says how to make one."
        )


def _build(
    client: Client,
    name: str,
    recipe: str,
    members: list[tuple[str, Path | bytes]],
    arguments: dict[str, str],
    report: Report,
) -> Built:
    report(f"building {name}")
    before = _id(client, name)
    with TemporaryFile() as archive:
        context.write(archive, recipe, members)
        archive.seek(0)
        try:
            lines = client.build(
                fileobj=archive, custom_context=True, dockerfile="Dockerfile", tag=name, decode=True, rm=True,
                forcerm=True, timeout=STEP_SECONDS, network_mode="none",
                buildargs={**arguments, "EPOCH": str(context.EPOCH)},
            )  # fmt: skip
            _follow(name, lines, report)
        except DockerException as error:
            raise UserError(f"The engine did not build {name}: {_explanation(error)}.{_remedy(str(error))}") from error
    if before not in (None, _id(client, name)):
        _forget(client, before)
    return _describe(client, name)


def _follow(name: str, lines: Iterable[dict[str, object]], report: Report) -> None:
    """Report the steps; when one fails, say which and what it printed."""
    step, printed = "", list[str]()
    for line in lines:
        if "error" in line:
            said = "\n  ".join(
                [str(line["error"]).strip().rpartition("' returned")[2].strip(), *printed[-_TAIL_LINES:]]
            )
            raise UserError(f"{name} cannot be built.{_remedy(said)} {step}: {said}")
        text = _COLOURS.sub("", str(line.get("stream", ""))).strip()
        if text.startswith("Step "):
            step, printed = _shortened(text), []
            if any(word in step for word in _WORK):
                report(step)
        elif text and not text.startswith(_CHATTER):
            printed.append(text)


def _shortened(step: str) -> str:
    line = " ".join(step.split())
    return line if len(line) <= _LINE else f"{line[:_LINE]} …"


def _describe(client: Client, name: str) -> Built:
    found = client.inspect_image(name)
    history = client.history(name)
    layers = tuple(Layer(step["Size"], " ".join(step["CreatedBy"].split())) for step in history[::-1] if step["Size"])
    return Built(name, found["Id"], found["Size"], layers)


def _id(client: Client, name: str) -> str | None:
    try:
        id: str = client.inspect_image(name)["Id"]
    except ImageNotFound:
        return None
    return id


def _forget(client: Client, id: str | None) -> None:
    """Remove the image whose name the new one took, unless something runs from it."""
    try:
        client.remove_image(id, noprune=True)
    except APIError:
        return


def _explanation(error: DockerException) -> str:
    return str(getattr(error, "explanation", None) or error).rstrip(".")


def _remedy(said: str) -> str:
    if "no space left" in said:
        return " The engine's disk is full: docker system prune frees some."
    return ""
