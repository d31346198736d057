"""Leaves of the base image what a program in Python needs: the interpreter, its library and shared libraries.

Run in a stage of the build, on that stage's own root. What goes: package managers, shells and every other program,
perl, installers of Python packages, documents, and the right of any file to run as somebody else.
"""

import os
import re
import shutil
import stat
import sys
from glob import glob

PROGRAMS = ("/usr/bin", "/usr/sbin", "/bin", "/sbin", "/usr/local/bin", "/usr/local/sbin", "/usr/games", "/usr/libexec")
KEPT = re.compile(r"python3(\.\d+)?")

GONE = (
    "/bare.py", "/etc/apt", "/etc/cron.*", "/etc/default", "/etc/dpkg", "/etc/init.d", "/etc/kernel",
    "/etc/logrotate.d", "/etc/pam.*", "/etc/rc*.d", "/etc/security", "/etc/skel", "/etc/systemd", "/etc/terminfo",
    "/etc/*-", "/etc/shadow", "/etc/gshadow", "/root/.*", "/usr/include", "/usr/lib/apt", "/usr/lib/dpkg",
    "/usr/lib/init", "/usr/lib/lsb", "/usr/lib/mime", "/usr/lib/systemd", "/usr/lib/terminfo", "/usr/lib/tmpfiles.d",
    "/usr/lib/udev", "/usr/lib/*/libapt*", "/usr/lib/*/perl*", "/usr/lib/*/security", "/usr/share/bash-completion",
    "/usr/share/bug", "/usr/share/debconf", "/usr/share/debianutils", "/usr/share/doc", "/usr/share/dpkg",
    "/usr/share/info", "/usr/share/lintian", "/usr/share/locale", "/usr/share/man", "/usr/share/menu",
    "/usr/share/pam*", "/usr/share/perl*", "/usr/share/python3", "/usr/share/applications", "/usr/share/keyrings",
    "/usr/share/polkit-1", "/usr/share/tabset", "/usr/src", "/var/backups", "/var/cache", "/var/lib/apt",
    "/var/lib/dpkg", "/var/lib/pam", "/var/lib/systemd", "/var/log", "/usr/local/lib/python3.*/site-packages/*",
    "/usr/local/lib/python3.*/ensurepip", "/usr/local/lib/python3.*/idlelib", "/usr/local/lib/python3.*/test",
    "/usr/lib/python3.*/ensurepip", "/usr/lib/python3/dist-packages/*",
)  # fmt: skip

OTHER_SYSTEMS = ("/proc", "/sys", "/dev")


def main(epoch: int) -> None:
    """Do it; the same base gives the same bytes."""
    for folder in PROGRAMS:
        # A link leads to a folder that is in the list itself.
        if not os.path.islink(folder) and os.path.isdir(folder):
            for entry in list(os.scandir(folder)):
                if not KEPT.fullmatch(entry.name):
                    _remove(entry.path)
    for pattern in GONE:
        for path in glob(pattern, include_hidden=True):
            _remove(path)
    for folder, folders, files in os.walk("/", topdown=True):
        folders[:] = [name for name in folders if os.path.join(folder, name) not in OTHER_SYSTEMS]
        for name in (*folders, *files):
            _settle(os.path.join(folder, name), epoch)


def _remove(path: str) -> None:
    if os.path.isdir(path) and not os.path.islink(path):
        shutil.rmtree(path)
    else:
        os.unlink(path)


def _settle(path: str, epoch: int) -> None:
    """Take the set-user bits, and set the time."""
    try:
        mode = os.lstat(path).st_mode
        if stat.S_ISREG(mode) and mode & (stat.S_ISUID | stat.S_ISGID):
            os.chmod(path, stat.S_IMODE(mode) & ~(stat.S_ISUID | stat.S_ISGID))
        os.utime(path, (epoch, epoch), follow_symlinks=False)
    except OSError:
        # What the engine has mounted here, such as /etc/hosts, is not of the image.
        return


if __name__ == "__main__":
    main(int(sys.argv[1]))
