"""Several machines on one: each has a network and a disk of its own, which can be cut and filled.

By Linux' namespaces, a bridge and file systems in files. `enter` starts the program again in namespaces of
its own: with it all of them end. It needs root, iproute2, util-linux and e2fsprogs.
"""

import ctypes
import fcntl
import os
import platform
import shutil
import signal
import struct
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final

_ENTERED: Final = "ACADEMY_SIMULATED_HOSTS"
_NETWORK: Final = "10.77.0"
_THROTTLE: Final = Path("/sys/fs/cgroup/blkio/blkio.throttle.write_iops_device")
_DISK_BYTES: Final = 1 << 30
_FILLED_AT_ONCE: Final = 1 << 20
# ext4's ioctl by which file systems are tested, and its flag for writing nothing, not even the journal.
_SHUT_DOWN: Final = 0x8004587D
_WITHOUT_WRITING: Final = struct.pack("I", 2)
# mov eax, clock_gettime; syscall; test edi, edi; jnz past; add qword [rsi], seconds; past: ret
_CLOCK_BEFORE: Final = bytes.fromhex("b8e40000000f0585ff7507488106")
_CLOCK_AFTER: Final = b"\xc3"


def why_not() -> str:
    """Return what is missing here, nothing where hosts can be made."""
    if os.geteuid():
        return "root's rights"
    missing = [
        tool for tool in ("ip", "unshare", "nsenter", "mount", "mkfs.ext4") if shutil.which(tool) is None
    ]
    return ", ".join(missing)


def enter() -> None:
    """Run this program in namespaces of its own, if it does not yet."""
    if os.environ.get(_ENTERED):
        return
    os.environ[_ENTERED] = "1"
    unshare = ["unshare", "--mount", "--net", "--pid", "--fork", "--kill-child", "--mount-proc"]
    # As it was started: with `-m` and the module's name.
    os.execvp(unshare[0], [*unshare, sys.executable, *sys.orig_argv[1:]])


@contextmanager
def make_hosts(folder: Path, count: int) -> Iterator[list["Host"]]:
    """Make hosts, with their disks in a folder."""
    _run("mount", "-t", "tmpfs", "tmpfs", "/run")
    _run("ip", "link", "set", "lo", "up")
    _run("ip", "link", "add", "hosts", "type", "bridge")
    _run("ip", "link", "set", "hosts", "up")
    hosts = [Host(folder, number) for number in range(1, count + 1)]
    for host in hosts:
        host.heal(hosts)
    try:
        yield hosts
    finally:
        for host in hosts:
            host.unmount()


def _run(*command: str) -> None:
    subprocess.run(command, check=True)


class Host:
    """A machine: its address, and the mount of its disk."""

    def __init__(self, folder: Path, number: int) -> None:
        self.name = f"host{number}"
        self.address = f"{_NETWORK}.{number}"
        self._mac = f"02:00:00:00:00:{number:02x}"
        self._number = number
        self.disk = folder / self.name
        self._connect()
        self._image = folder / f"{self.name}.image"
        self._make_disk()

    def _connect(self) -> None:
        outer = f"port{self._number}"
        _run("ip", "netns", "add", self.name)
        inner = ("name", "eth0", "address", self._mac, "netns", self.name)
        _run("ip", "link", "add", outer, "type", "veth", "peer", *inner)
        _run("ip", "link", "set", outer, "master", "hosts", "up")
        for command in ("link set lo up", f"address add {self.address}/24 dev eth0", "link set eth0 up"):
            _run("ip", "-n", self.name, *command.split())

    def _make_disk(self) -> None:
        with self._image.open("wb") as file:
            file.truncate(_DISK_BYTES)
        _run("mkfs.ext4", "-q", "-E", "nodiscard", str(self._image))
        self.disk.mkdir()
        self._mount()

    def _mount(self) -> None:
        _run("mount", "-o", "loop", str(self._image), str(self.disk))

    def unmount(self) -> None:
        """Give the disk up, however it is used."""
        _run("umount", "--lazy", str(self.disk))

    @property
    def command(self) -> Sequence[str]:
        """What a program's command begins with, so that it runs there."""
        return ("nsenter", f"--net=/run/netns/{self.name}")

    # The network

    def cut(self, others: Iterable["Host"]) -> None:
        """Lose what is sent from here to others: the frames go to an address that nobody has."""
        for other in others:
            self._send_to(other, f"02:00:00:00:ff:{other._number:02x}")

    def heal(self, others: Iterable["Host"]) -> None:
        """Have what is sent from here arrive again."""
        for other in others:
            if other is not self:
                self._send_to(other, other._mac)

    def _send_to(self, other: "Host", mac: str) -> None:
        entry = ("neigh", "replace", other.address, "lladdr", mac, "dev", "eth0", "nud", "permanent")
        _run("ip", "-n", self.name, *entry)

    # The disk

    def fill_disk(self) -> None:
        """Leave no room on the disk."""
        with (self.disk / "filler").open("wb", buffering=0) as filler:
            try:
                while True:
                    os.posix_fallocate(filler.fileno(), filler.tell(), _FILLED_AT_ONCE)
                    filler.seek(_FILLED_AT_ONCE, os.SEEK_CUR)
            except OSError:
                pass

    def empty_disk(self) -> None:
        """Give the room back."""
        (self.disk / "filler").unlink(missing_ok=True)

    def lose_power(self) -> None:
        """Lose what was written and not made durable (fsync): the disk takes nothing more from now on."""
        folder = os.open(self.disk, os.O_RDONLY)
        try:
            fcntl.ioctl(folder, _SHUT_DOWN, _WITHOUT_WRITING)
        finally:
            os.close(folder)

    def regain_power(self) -> None:
        """Have the disk again, with what was durable; its processes must have ended."""
        _run("umount", str(self.disk))
        self._mount()

    @staticmethod
    def can_be_slow() -> bool:
        """Whether the kernel lets a disk be made slow (cgroups of version 1)."""
        return _THROTTLE.exists()

    def slow_disk(self, writes: int) -> None:
        """Let the disk do only this number of writes a second; 0: any number."""
        device = self.disk.stat().st_dev
        _THROTTLE.write_text(f"{os.major(device)}:{os.minor(device)} {writes}", encoding="ascii")


# The clock


def can_set_clocks() -> bool:
    """Whether `set_clock` knows this machine's instructions."""
    return platform.machine() == "x86_64"


def set_clock(process: int, seconds: int) -> None:
    """Have a process's time of day differ from the machine's by these seconds.

    Its copy of the kernel's `clock_gettime` is overwritten, which programs of C, Python and Go all call:
    a library that is loaded first cannot do it to a program of Go. Clocks that only measure are left alone.
    """
    code = _CLOCK_BEFORE + seconds.to_bytes(4, "little", signed=True) + _CLOCK_AFTER
    library = ctypes.CDLL("linux-vdso.so.1")
    function = ctypes.cast(library.__vdso_clock_gettime, ctypes.c_void_p).value
    assert function is not None
    place = function - _find_vdso(os.getpid()) + _wait_for_program(process)
    os.kill(process, signal.SIGSTOP)
    try:
        while "\nState:\tT" not in Path(f"/proc/{process}/status").read_text(encoding="ascii"):
            time.sleep(0.01)
        with Path(f"/proc/{process}/mem").open("r+b", buffering=0) as memory:
            memory.seek(place)
            memory.write(code)
    finally:
        os.kill(process, signal.SIGCONT)


def _wait_for_program(process: int) -> int:
    """Return where the program that is started at a host has its copy of the kernel's functions."""
    while True:
        place = _find_vdso(process)
        program = Path(f"/proc/{process}/comm").read_text(encoding="utf-8").strip()
        # Looked at twice: between, the command that enters the host may have become the program.
        if place and program != "nsenter" and _find_vdso(process) == place:
            return place
        time.sleep(0.01)


def _find_vdso(process: int) -> int:
    """Return where a process has its copy of the kernel's functions, 0 while it has none."""
    for line in Path(f"/proc/{process}/maps").read_text(encoding="ascii").splitlines():
        if line.endswith("[vdso]"):
            return int(line.partition("-")[0], 16)
    return 0
