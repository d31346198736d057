"""The filter of system calls, carried out step by step for both machines: what it lets pass and what it refuses."""

import struct
from errno import ENOSYS, EPERM

import pytest

from m3bench.sandboxes.backends import seccomp

ARCHITECTURES = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
CALLS = {
    "x86_64": {
        "read": 0, "openat": 257, "execve": 59, "socket": 41, "socketpair": 53, "clone": 56, "clone3": 435, "ioctl": 16,
        "ptrace": 101, "mount": 165, "unshare": 272, "keyctl": 250, "bpf": 321, "io_uring_setup": 425,
        "kill": 62, "tkill": 200, "tgkill": 234, "rt_sigqueueinfo": 129, "prlimit64": 302, "pidfd_send_signal": 424,
    },
    "aarch64": {
        "read": 63, "openat": 56, "execve": 221, "socket": 198, "socketpair": 199, "clone": 220, "clone3": 435,
        "ioctl": 29, "ptrace": 117, "mount": 40, "unshare": 97, "keyctl": 219, "bpf": 280, "io_uring_setup": 425,
        "kill": 129, "tkill": 130, "tgkill": 131, "rt_sigqueueinfo": 138, "prlimit64": 261, "pidfd_send_signal": 424,
    },
}  # fmt: skip
"""Numbers as the kernel's headers have them."""

ALLOWED, REFUSED, MISSING = 0x7FFF0000, 0x00050000 | EPERM, 0x00050000 | ENOSYS


def decide(
    machine: str, number: int, *arguments: int, architecture: int | None = None, untouchable: tuple[int, ...] = ()
) -> int:
    """What the filter says, as the kernel would carry it out."""
    own = ARCHITECTURES[machine] if architecture is None else architecture
    padded = (*arguments, 0, 0, 0, 0, 0, 0)[:6]
    data = struct.pack("=IIQ6Q", number, own, 0, *padded)
    code = seccomp.program(machine, untouchable)
    steps = [struct.unpack_from("=HBBI", code, place) for place in range(0, len(code), 8)]
    place, value = 0, 0
    while True:
        kind, yes, no, constant = steps[place]
        place += 1
        if kind == 0x06:
            return int(constant)
        if kind == 0x20:
            (value,) = struct.unpack_from("=I", data, constant)
        elif kind == 0x54:
            value &= constant
        else:
            holds = {0x15: value == constant, 0x35: value >= constant, 0x45: bool(value & constant)}[kind]
            place += yes if holds else no


@pytest.mark.parametrize("machine", ARCHITECTURES)
def test_what_programs_live_on_passes_and_what_leads_out_does_not(machine: str) -> None:
    calls = CALLS[machine]
    assert {decide(machine, calls[name]) for name in ("read", "openat", "execve")} == {ALLOWED}
    leading_out = ("socket", "ptrace", "mount", "unshare", "keyctl", "bpf", "io_uring_setup")
    assert {decide(machine, calls[name]) for name in leading_out} == {REFUSED}
    assert decide(machine, calls["clone3"]) == MISSING


@pytest.mark.parametrize("machine", ARCHITECTURES)
def test_arguments_decide_where_a_call_has_two_uses(machine: str) -> None:
    calls = CALLS[machine]
    threads, children, new_user, new_mounts = 0x3D0F00, 0x01200011, 0x10000011, 0x20011
    assert [decide(machine, calls["clone"], flags) for flags in (threads, children)] == [ALLOWED, ALLOWED]
    assert [decide(machine, calls["clone"], flags) for flags in (new_user, new_mounts)] == [REFUSED, REFUSED]
    streams, datagrams, cloexec = 1, 2, 0o2000000
    assert decide(machine, calls["socketpair"], 1, streams | cloexec) == ALLOWED
    assert decide(machine, calls["socketpair"], 1, datagrams | cloexec) == REFUSED
    window_size, type_input = 0x5413, 0x5412
    assert decide(machine, calls["ioctl"], 0, window_size) == ALLOWED
    assert decide(machine, calls["ioctl"], 0, type_input) == REFUSED


@pytest.mark.parametrize("machine", ARCHITECTURES)
def test_signals_reach_children_but_not_who_watches_over_them(machine: str) -> None:
    calls = CALLS[machine]
    for name in ("kill", "tkill", "tgkill", "rt_sigqueueinfo", "prlimit64"):
        asked = {pid: decide(machine, calls[name], pid % 2**64, untouchable=(70, 80)) for pid in (0, 69, -69, 71)}
        assert set(asked.values()) == {ALLOWED}
        asked = {pid: decide(machine, calls[name], pid % 2**64, untouchable=(70, 80)) for pid in (70, -70, 80, -80, -1)}
        assert set(asked.values()) == {REFUSED}
    assert decide(machine, calls["pidfd_send_signal"]) == REFUSED


def test_other_calling_conventions_are_refused() -> None:
    assert decide("x86_64", 0, architecture=0x40000003) == REFUSED
    assert decide("x86_64", 0x40000000 + 41) == MISSING
