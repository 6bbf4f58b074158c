"""Explanations of little-known programs, for the person who decides about a command."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from watchgate.core.model.assessment import Segment
from watchgate.core.policy.shell.commands import is_itself, plain_name

MAX_EXPLAINED = 3
# Of these there is one for each kind of file system.
_OF_KINDS = ("fsck", "mkfs", "mount")

_WORDS = """
aa-complain: lets a program do what its AppArmor profile forbids, and only records it
aircrack-ng: works out the password of a wireless network from recorded traffic
ansible: runs commands on the machines of a list
ansible-playbook: brings the machines of a list into the state that a file describes
aria2c: downloads files over several protocols at once
arp: shows or changes which hardware address belongs to which network address
arpspoof: tells the local network a wrong hardware address, to draw its traffic
at: runs commands once, at a given time
auditctl: changes what the kernel's audit records
autossh: keeps an SSH connection open and opens it again when it breaks
b2sum: computes a checksum of files
base64: encodes bytes as text or decodes them
bcftools: filters and converts files of genetic variants
bfg: rewrites the whole history of a git repository without certain files
blkdiscard: throws away everything on a disk or a part of it
borg: keeps deduplicated backups
bpftrace: runs small tracing programs within the kernel
brctl: changes network bridges
btrfs: manages Btrfs file systems, their parts and snapshots
busctl: calls services over D-Bus, also ones that start programs
bwrap: runs a command in a sandbox of its own
certbot: fetches and renews TLS certificates
certutil: changes stores of certificates; on Windows it can also download and decode files
chattr: sets attributes of files, such as one that forbids every change
chcon: changes the SELinux label of files
chpasswd: sets the passwords of users from a list
chroot: runs a command with another folder as its whole file system
chrt: changes how urgently the kernel runs a process
cksum: computes a checksum of files
cloudflared: makes a local service reachable from the internet through Cloudflare
comm: compares two sorted files line by line
conntrack: shows or deletes the connections that the firewall knows
cpio: packs files into an archive or unpacks them
croc: sends files to another machine through a relay
crontab: changes which commands run at set times
cryptsetup: sets up, opens or erases encrypted disks
csplit: cuts a file into pieces where a pattern stands
ctr: controls containerd's containers by hand
dbus-send: sends one message to a service over D-Bus
dcfldd: copies raw data, whole disks too, and computes checksums of it
dd: copies raw data byte by byte, also onto whole disks
debugfs: reads or changes an ext file system from within
defaults: reads or changes the settings of programs on macOS
dig: asks name servers about a host
diskutil: manages the disks of a Mac, erasing them too
dislocker: opens disks that BitLocker encrypted
dmesg: shows the messages of the kernel
dmsetup: changes how the kernel puts disks together
dnsmasq: answers name and address requests of a network
doas: runs a command as another user
dos2unix: rewrites the line ends of files
dpkg-reconfigure: asks the set-up questions of an installed package again
dropdb: deletes a PostgreSQL database
dscl: changes users and groups on macOS
e2fsck: checks and repairs an ext file system
efibootmgr: changes what the machine starts from
envsubst: puts the values of variables into a text
ethtool: shows or changes the settings of a network card
ettercap: listens to or changes the traffic of others on the local network
exiftool: reads or changes what is stored about photos and other files
expect: types into other programs as a script tells it
fallocate: reserves space for a file, or cuts holes into it
fdisk: changes the partitions of a disk
ffuf: tries many addresses of a web site
find: looks for files, and can delete them or run a command on each
firewall-cmd: changes the firewall
fsck: checks and repairs a file system
fstrim: tells a disk which of its blocks are free
fuser: shows which processes use a file or a port, and can stop them
fusermount: mounts or unmounts a file system of a user
gdb: stops a running program and looks into it, or changes it
gdbus: calls services over D-Bus, also ones that start programs
getcap: shows which special rights programs have
gobuster: tries many addresses of a web site
gost: forwards connections through proxies
gpasswd: changes who belongs to a group
gpg: encrypts, decrypts and signs with keys
groupadd: creates a group
hashcat: guesses passwords from their hashes
hdiutil: makes or attaches disk images on macOS
hdparm: shows or changes settings of a disk, and can erase it
hping3: sends hand-made network packets
hydra: tries many passwords at a login
iconv: converts a text to another encoding
iftop: shows which connections use the network
incus: manages system containers and virtual machines
inotifywait: waits until files change
insmod: loads a module into the kernel
install: copies files and sets their rights and owners
ionice: changes how urgently a process uses the disk
ip: shows or changes the network's addresses, routes and links
iptables: changes the firewall
iptables-restore: replaces the rules of the firewall
iw: shows or changes settings of wireless networks
john: guesses passwords from their hashes
journalctl: shows the system's log, and can delete old parts of it
jq: filters and changes JSON
kadmin: changes the accounts of a Kerberos realm
kexec: starts another kernel at once
kpartx: makes the partitions of a disk image usable
kubeadm: sets up or takes down a Kubernetes cluster
launchctl: starts, stops and registers services on macOS
ldapmodify: changes entries of a directory server
ldconfig: changes where programs find their libraries
logrotate: moves and deletes old logs
losetup: makes a file usable as a disk
lsof: lists which processes have which files and ports open
ltrace: shows which library functions a program calls
lvremove: deletes a logical volume with everything on it
lxc: manages system containers
masscan: looks for open ports on very many machines
mdadm: manages disks that are put together as one (RAID)
mitmproxy: reads and changes the web traffic that goes through it
mkfifo: makes a pipe with a name
mkfs: makes a new, empty file system on a disk
mkswap: makes a disk into swap space
mknod: makes a device file
modprobe: loads or unloads modules of the kernel
mount: attaches a disk or a folder at a place
msfvenom: builds programs that open a way into a machine
mtr: shows the way to a machine and where it is slow
nc: opens a raw network connection, or waits for one
ncat: opens a raw network connection, or waits for one
ncdu: shows which folders take the most space
netcat: opens a raw network connection, or waits for one
netstat: lists network connections
newgrp: starts a shell as a member of another group
nft: changes the firewall
ngrok: makes a local service reachable from the internet
nice: runs a command with less urgency
nikto: looks for known weaknesses of a web server
nmap: looks for machines and open ports on a network
nmcli: changes network connections
nohup: keeps a command running after its terminal is closed
nsenter: runs a command inside the surroundings of another process
nslookup: asks name servers about a host
nsupdate: changes the entries of a name server
nvme: shows or changes settings of NVMe disks, and can erase them
od: shows the bytes of a file
openssl: makes keys and certificates, encrypts, and opens TLS connections
osascript: runs AppleScript, which can control other programs
parallel: runs a command for many inputs at once
parted: changes the partitions of a disk
passwd: changes a user's password
patch: changes files as a diff describes
pfctl: changes the firewall of BSD and macOS
pg_restore: loads a dump into a PostgreSQL database
pkexec: runs a command as another user, after asking on the screen
pmset: changes how a Mac saves power
proxychains: sends the connections of a command through a proxy
prlimit: changes how much of the machine a process may use
pv: shows how fast data passes through it
pvremove: takes a disk out of the volumes that use it
pwdx: shows in which folder a process runs
qemu-img: makes or changes images of virtual disks
rclone: copies and syncs files with cloud storage
redis-cli: reads and changes the data of a Redis server
renice: changes how urgently a process runs
resize2fs: makes a file system larger or smaller
restic: keeps encrypted backups
rmmod: unloads a module of the kernel
route: shows or changes where network traffic goes
rsync: copies and mirrors folders, also to other machines
runuser: runs a command as another user
s3cmd: copies files to and from S3 storage
scp: copies files to or from another machine
screen: keeps terminal sessions running in the background
script: records all that happens in a terminal
setcap: gives a program special rights
setenforce: switches SELinux's protection on or off
setfacl: changes in detail who may use a file
setsid: starts a command that no terminal holds
sfdisk: writes the partitions of a disk from a description
sftp: copies files to or from another machine
shred: overwrites files so that nothing brings them back
sips: changes images on macOS
smartctl: asks a disk how healthy it is
socat: connects two data streams, such as a network port and a program
sops: encrypts and decrypts files of secrets
spctl: changes which programs a Mac lets start
split: cuts a file into pieces
sqlmap: looks for ways into a database through a web site
ss: lists network connections
ssh-copy-id: lets a key log in to another machine
ssh-keygen: makes or changes SSH keys
ssh-keyscan: fetches the host keys of machines
sshfs: shows the files of another machine in a folder
sshpass: gives SSH a password without asking
strace: shows every call of a program to the kernel, with its data
strings: shows the readable texts in a file
stress: keeps the machine busy, to test it
su: starts a shell or a command as another user
swapoff: stops using a swap space
sysctl: shows or changes settings of the kernel
systemd-run: runs a command as a service, apart from this session
tailscale: manages a private network among machines
tc: changes how network traffic is slowed or shaped
tcpdump: records network traffic
tee: writes what passes through it into files
telnet: opens an unencrypted connection to another machine
timedatectl: changes the clock and its time zone
tmutil: manages the backups of a Mac
truncate: cuts a file to a length, or empties it
tshark: records network traffic
tune2fs: changes settings of an ext file system
ufw: changes the firewall
umount: detaches a disk or a folder
unshare: runs a command apart from others, with a view of its own of the system
update-alternatives: chooses which of several programs has a name
useradd: creates a user
userdel: deletes a user
usermod: changes a user, such as the groups
vault: reads and changes secrets on a Vault server
vgremove: deletes a group of volumes with everything in it
virsh: manages virtual machines
visudo: changes who may run what as root
wall: writes a message to everybody who is logged in
watch: runs a command again and again
wevtutil: reads or clears the logs of Windows
wg: changes a WireGuard private network
wipefs: erases the marks by which a file system is found
xargs: runs a command with what it reads as arguments
xattr: changes attributes of files on macOS, such as the one for downloads
xxd: shows bytes as hexadecimal, or turns that back into bytes
yq: filters and changes YAML
zfs: manages ZFS file systems and snapshots
zpool: manages the disks of ZFS, destroying them too
"""

PROGRAMS: dict[str, str] = dict(line.split(": ", 1) for line in _WORDS.strip().splitlines())
"""The plain words for each program, by its name."""


def plain_words(segments: Iterable[Segment]) -> Iterator[str]:
    """Yields a line for each little-known program of a call; allowed commands need none.

    A program that is named by a folder of somebody's own may be anything.
    """
    programs = dict.fromkeys(
        plain_name(segment.words[0])
        for segment in segments
        if segment.words and not segment.allowed_by and is_itself(segment.words[0])
    )
    known = [name for name in programs if _family(name) in PROGRAMS]
    for name in known[:MAX_EXPLAINED]:
        yield f"{name}: {PROGRAMS[_family(name)]}"


def _family(name: str) -> str:
    """Returns the name under which the table has a program: `mkfs` for `mkfs.ext4`."""
    stem, _, kind = name.partition(".")
    return stem if kind and stem in _OF_KINDS else name
