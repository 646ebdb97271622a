"""Programs whose harm is not to one file: disks, services, accounts, packages, clouds, and what is published."""

from collections.abc import Callable, Iterator
from typing import TypeAlias

from aster.sandbox.bash_targets import Operands, Targets, operands
from aster.sandbox.bash_words import Word, listed

Judgement: TypeAlias = Callable[[Targets, tuple[Word, ...]], Iterator[str]]

DISKS = listed(
    "mkfs mke2fs mkswap wipefs fdisk sfdisk cfdisk parted sgdisk gdisk blkdiscard mkntfs badblocks hdparm"
    " cryptsetup lvremove vgremove pvremove losetup mdadm diskutil debugfs nvme"
)
_STOPS = listed("shutdown reboot halt poweroff init telinit systemctl service launchctl rc-service initctl sv")
_LOOKS = listed(
    "status show list-units list-unit-files is-active is-enabled cat list --version --help --status-all"
    " -V -L -S --show --status --list"
)
_ACCOUNTS = listed(
    "passwd chpasswd useradd usermod userdel adduser deluser groupadd groupdel gpasswd visudo chsh vipw"
)
_KERNEL = listed(
    "mount umount swapoff swapon sysctl modprobe rmmod insmod iptables ip6tables nft ufw firewall-cmd kexec"
    " setenforce chattr"
    " setfacl setcap"
)
_WIPERS = listed("shred srm wipe scrub sfill bleachbit")
_PACKAGES = listed(
    "apt apt-get aptitude dpkg yum dnf zypper rpm pacman apk snap flatpak brew port emerge pkg pip pip3 gem"
    " conda mamba"
)
_REMOVES = listed(
    "remove purge autoremove uninstall erase unlink prune -R -Rs -Rns -e del delete --purge --erase -r"
)
_CLOUDS = listed(
    "aws gcloud az gsutil bq kubectl oc helm terraform tofu pulumi heroku flyctl fly doctl vercel netlify firebase"
    " eksctl ibmcloud oci rclone s3cmd mc vault consul nomad gh glab hcloud linode-cli docker podman nerdctl"
    " docker-compose etcdctl defaults tmutil mysqladmin svnadmin crictl lxc virsh vagrant multipass minikube"
    " kind zfs zpool btrfs"
)
_DESTROYS = listed(
    "delete destroy rm rmi rb remove purge prune terminate uninstall down drain evict wipe undefine drop"
    " del rollback"
    " format nuke"
)
_PUBLISHERS: dict[str, frozenset[str]] = {
    "npm": frozenset(("publish", "unpublish", "deprecate")),
    "pnpm": frozenset(("publish", "unpublish")),
    "yarn": frozenset(("publish", "unpublish")),
    "cargo": frozenset(("publish", "yank")),
    "twine": frozenset(("upload",)),
    "poetry": frozenset(("publish",)),
    "uv": frozenset(("publish",)),
    "gem": frozenset(("push", "yank")),
}
_DRY = ("--dry-run", "--dryrun", "--simulate", "--just-print", "--whatif", "--plan")


def _always(sentence: str) -> Judgement:
    def judge(targets: Targets, arguments: tuple[Word, ...]) -> Iterator[str]:
        del targets
        if not _asks_about(arguments):
            yield sentence

    return judge


def _changes(name: str) -> Judgement:
    """Programs that show how things are when they are told nothing, or only a name."""

    def judge(targets: Targets, arguments: tuple[Word, ...]) -> Iterator[str]:
        del targets
        told = operands(arguments)
        shows = not arguments or (
            name == "sysctl" and not told.short("w", "p") and "=" not in "".join(w.text for w in arguments)
        )
        if not shows and not _asks_about(arguments):
            yield f"{name} changes the machine itself"

    return judge


def _asks_about(arguments: tuple[Word, ...]) -> bool:
    """Whether a command only wants to know."""
    return bool(arguments) and arguments[0].text in _LOOKS and len(arguments) < 4


def _packages(name: str) -> Judgement:
    def judge(targets: Targets, arguments: tuple[Word, ...]) -> Iterator[str]:
        given = operands(arguments)
        first = given.operands[0].text if given.operands else ""
        short = next((option for option in given.options if option in _REMOVES), "")
        pip = name.startswith("pip") or name in ("conda", "mamba", "gem", "brew")
        if first in _REMOVES or (short and not pip and name not in ("apt", "apt-get")):
            yield f"{name} removes software"
        yield from _published(name, given)

    return judge


def _published(name: str, given: Operands) -> Iterator[str]:
    said = _PUBLISHERS.get(name, frozenset())
    for word in given.operands[:1]:
        if word.text in said and not given.has(*_DRY):
            yield f"{name} {word.text} cannot be taken back from those who have seen it"


def _publisher(name: str) -> Judgement:
    def judge(targets: Targets, arguments: tuple[Word, ...]) -> Iterator[str]:
        yield from _published(name, operands(arguments))

    return judge


def _cloud(name: str) -> Judgement:
    def judge(targets: Targets, arguments: tuple[Word, ...]) -> Iterator[str]:
        given = operands(arguments)
        if given.has(*_DRY):
            return
        told = [word.text for word in given.operands[:4]]
        if (
            "compose" in told[:1]
            and "down" in told
            and not given.short("v")
            and not given.has("--volumes", "--rmi")
        ):
            return
        for word in given.operands[:4]:
            parts = word.text.replace(":", "-").split("-")
            if parts[0] in _DESTROYS or (len(parts) > 1 and parts[-1] in ("delete", "destroy", "prune", "reset")):
                yield f"{name} {word.text} deletes something that is not in the workspace"
                return
        if given.has("--delete", "--force-delete", "--privileged", "-auto-approve", "--purge"):
            yield f"{name} is told to delete, or to do so without asking"
        if name in ("docker", "podman") and any(w.text.startswith(("/:", "/etc:", "/var/run")) for w in arguments):
            yield f"{name} lends the machine's own files to a container"

    return judge


def _kill(name: str) -> Judgement:
    def judge(targets: Targets, arguments: tuple[Word, ...]) -> Iterator[str]:
        texts = [word.text for word in arguments]
        if name == "kill" and ("-1" in texts[1:] or texts[-1:] == ["1"]):
            yield "kill ends every process"
        elif name == "fuser" and operands(arguments).short("k"):
            yield "fuser ends whatever uses a file or port"
        elif name in ("killall", "pkill", "skill") and any(
            text in ("-9", "-KILL", "-SIGKILL", "-u", "--user") or text.startswith("-u") for text in texts
        ):
            yield f"{name} ends processes by name, without letting them finish"

    return judge


def _crontab(targets: Targets, arguments: tuple[Word, ...]) -> Iterator[str]:
    if [word.text for word in arguments] not in (["-l"], []):
        yield "crontab changes what runs by itself"


def _history(targets: Targets, arguments: tuple[Word, ...]) -> Iterator[str]:
    if operands(arguments).short("c", "w", "d"):
        yield "history forgets what was run"


def _netcat(targets: Targets, arguments: tuple[Word, ...]) -> Iterator[str]:
    given = operands(arguments)
    runs = any(word.text.upper().startswith(("EXEC:", "SYSTEM:")) for word in arguments)
    if runs or given.short("e", "c") or given.has("--exec", "--sh-exec"):
        yield "it gives whoever is at the other end a program to run"


def _archive(targets: Targets, arguments: tuple[Word, ...]) -> Iterator[str]:
    given = operands(arguments)
    words = [word.text for word in arguments]
    if given.has("--remove-files", "--delete"):
        yield "tar deletes files"
    if given.has("--to-command", "--checkpoint-action", "--rmt-command", "--rsh-command"):
        yield "tar is told to run a program"
    if words[:1] and "c" in words[0].removeprefix("--").lstrip("-").partition("=")[0] and "f" in words[0]:
        for target in arguments[1:2]:
            yield from targets.writes("tar", target)
    for at, text in enumerate(words):
        into = words[at + 1 : at + 2] if text in ("-C", "--directory", "-d") else []
        into += [text.partition("=")[2]] if text.startswith("--directory=") else []
        for target in into:
            yield from targets.changes("unpacking", Word(target, tilde=target.startswith("~")))


def _network(targets: Targets, arguments: tuple[Word, ...]) -> Iterator[str]:
    if {"down", "del", "delete", "flush"} & {word.text for word in arguments}:
        yield "it takes the machine off its network"


def _clock(targets: Targets, arguments: tuple[Word, ...]) -> Iterator[str]:
    given = operands(arguments)
    if given.has("--set") or any(option.startswith("-s") for option in given.options):
        yield "it sets the clock of the machine"


def _make(targets: Targets, arguments: tuple[Word, ...]) -> Iterator[str]:
    for word in arguments:
        if word.text.startswith(("--eval", "SHELL=", ".SHELLFLAGS=")):
            yield "make is given commands of its own on the command line"


SYSTEMS: dict[str, Judgement] = {
    **{name: _always(f"{name} stops, starts or changes services of the machine") for name in _STOPS},
    **{name: _always(f"{name} changes accounts") for name in _ACCOUNTS},
    **{name: _changes(name) for name in _KERNEL},
    **{name: _always(f"{name} destroys files beyond recovery") for name in _WIPERS},
    **{name: _publisher(name) for name in _PUBLISHERS},
    **{name: _packages(name) for name in _PACKAGES},
    **{name: _cloud(name) for name in _CLOUDS},
    **{name: _kill(name) for name in ("fuser", "kill", "killall", "pkill", "skill")},
    **dict.fromkeys(("nc", "ncat", "netcat", "socat"), _netcat),
    **dict.fromkeys(("tar", "bsdtar", "unzip", "7z"), _archive),
    **dict.fromkeys(("make", "gmake"), _make),
    **dict.fromkeys(("ip", "ifconfig", "route", "nmcli"), _network),
    "date": _clock,
    "crontab": _crontab,
    "history": _history,
    "dropdb": _always("dropdb deletes a database"),
    "dropuser": _always("dropuser deletes a database account"),
    "fork": _always("it starts itself again and again"),
}
