"""The command line of bubblewrap: what a workspace sees of this machine, and what it may do."""

import os
import stat
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

import msgspec

from chatd.workspaces.local.installation import Mount

UID: Final = 1000  # inside; outside it is the account of the sandbox
USER: Final = "chatd"
HOME: Final = "/home/chatd"
AGENT: Final = "/run/chatd/agent"
EGRESS: Final = "/run/chatd/egress"
EGRESS_SOCKET: Final = f"{EGRESS}/proxy.sock"
PROGRAMS: Final = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

# Namespaces and rights. No network option: that is the config's.
CONFINED: Final = (
    *("--unshare-user", "--uid", str(UID), "--gid", str(UID)),
    *("--unshare-pid", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try"),
    *("--cap-drop", "ALL", "--new-session", "--die-with-parent"),
)
NO_MORE_NAMESPACES: Final = "--disable-userns"  # else root of a namespace within could mount and more; since 0.8

_SYSTEM: Final = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32")
# What programs look up. Not shadow, not what may hold credentials (pip.conf, npmrc, gitconfig), nothing of services.
_ETC: Final = (
    *("alternatives", "bash.bashrc", "bash_completion.d", "ca-certificates", "ca-certificates.conf", "crypto-policies"),
    *(
        "debian_version",
        "default/locale",
        "fonts",
        "gai.conf",
        "host.conf",
        "inputrc",
        "ld.so.cache",
    ),
    *("ld.so.conf", "ld.so.conf.d", "locale.alias", "locale.conf", "localtime", "login.defs", "magic", "mime.types"),
    *("nsswitch.conf", "os-release", "pki", "profile", "profile.d", "protocols", "python3", "python3.11", "python3.12"),
    *("python3.13", "rpc", "services", "shells", "skel", "ssl/certs", "ssl/openssl.cnf", "terminfo", "timezone", "vim"),
)
_TMP_BYTES: Final = 2 * 1024**3  # of /tmp where memory has no limit: it is in memory, and not counted


class View(msgspec.Struct, frozen=True, kw_only=True):
    """What one sandbox is made of. `files` are contents by path, made up for it.

    `environment` is set inside only: in bubblewrap's own, which runs outside, a template could name a library to load.
    """

    mounts: Sequence[Mount]
    files: Mapping[str, str]
    environment: Mapping[str, str]
    hostname: str
    shares_network: bool
    memory_mb: int | None
    hidden: Sequence[str]  # paths inside at which the server's data would be seen: empty folders instead
    no_more_namespaces: bool


def made_up_files(hostname: str) -> dict[str, str]:
    return {
        "/etc/passwd": f"root:x:0:0:root:/root:/usr/sbin/nologin\nchatd:x:{UID}:{UID}:chatd:{HOME}:{shell()}\n"
        "nobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin\n",
        "/etc/group": f"root:x:0:\nchatd:x:{UID}:\nnogroup:x:65534:\n",
        "/etc/hosts": f"127.0.0.1 localhost {hostname}\n::1 localhost ip6-localhost ip6-loopback\n",
        "/etc/hostname": f"{hostname}\n",
    }


def shell() -> str:
    return "/bin/bash" if Path("/bin/bash").exists() else "/bin/sh"


def environment(given: Mapping[str, str], *, home: str, user: str, programs: str | None) -> dict[str, str]:
    """All that the agent and its commands inherit: nothing of the server's."""
    return {
        "PATH": f"{home}/.local/bin:{PROGRAMS}" + (f":{programs}" if programs else ""),
        "HOME": home,
        "USER": user,
        "LOGNAME": user,
        "SHELL": shell(),
        "LANG": "C.UTF-8",
        **given,
    }


def arguments(view: View, contents: Mapping[str, int]) -> list[str]:
    """For bubblewrap, without the program to run. `contents` are descriptors of `view.files`."""
    given = [*CONFINED, *([NO_MORE_NAMESPACES] if view.no_more_namespaces else [])]
    given += [] if view.shares_network else ["--unshare-net"]
    given += ["--hostname", view.hostname]
    for path in _SYSTEM:
        given += _as_it_is(path)
    for name in _ETC:
        given += ["--ro-bind-try", f"/etc/{name}", f"/etc/{name}"]
    if view.shares_network:
        given += ["--ro-bind-try", "/etc/resolv.conf", "/etc/resolv.conf"]
    size = _TMP_BYTES if view.memory_mb is None else view.memory_mb * 1024**2
    given += ["--proc", "/proc", "--dev", "/dev", "--dir", "/run", "--dir", "/var", "--symlink", "/tmp", "/var/tmp"]  # noqa: S108
    for place in ("/tmp", "/dev/shm"):  # noqa: S108
        given += ["--perms", "1777", "--size", str(size), "--tmpfs", place]
    given += ["--remount-ro", "/dev"]  # else it is one more place in memory, without a bound
    for path, descriptor in contents.items():
        given += ["--perms", "0644", "--ro-bind-data", str(descriptor), path]
    for mount in view.mounts:
        given += ["--bind" if mount.writable else "--ro-bind", mount.source, mount.target]
    for place in view.hidden:
        given += ["--tmpfs", place, "--remount-ro", place]
    for name, value in view.environment.items():
        given += ["--setenv", name, value]
    return [*given, "--remount-ro", "/", "--chdir", HOME]


def places_of(folder: Path, mounts: Sequence[Mount]) -> list[str]:
    """Where a folder would be seen inside, as a part of what is shown."""
    shown = [*(Mount(path, path) for path in _SYSTEM), *mounts]
    return [
        str(Path(mount.target) / folder.relative_to(mount.source))
        for mount in shown
        if folder.is_relative_to(mount.source)
    ]


def _as_it_is(path: str) -> list[str]:
    """A folder of the system's; on most a link to one in /usr."""
    try:
        mode = os.lstat(path).st_mode
    except FileNotFoundError:
        return []
    if stat.S_ISLNK(mode):
        return ["--symlink", os.readlink(path), path]  # noqa: PTH115  as it is written
    return ["--ro-bind", path, path]
