"""What the machine allows: the memory that this process may use."""

import os
import sys
from collections.abc import Mapping
from pathlib import Path

M_TRIM_THRESHOLD, M_MMAP_THRESHOLD, M_ARENA_MAX = -1, -3, -8
"""The numbers of malloc's settings (glibc, malloc.h)."""
KEPT = 64 << 20
"""How much freed memory malloc keeps for the next block of a large file, and how large its pieces may be."""


def memory_left() -> int:
    """Bytes that this process may still take: by its own limit, its control group's and the machine's."""
    addresses, resident = _used()
    left = []
    limit = address_limit()
    if limit is not None:
        left.append(limit - addresses)
    if hasattr(os, "sysconf"):
        left.append(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") - resident)
    for file in ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"):
        try:
            left.append(int(Path(file).read_text()) - resident)
        except (OSError, ValueError):
            continue
    return max(0, min(left, default=4 << 30))


def _used() -> tuple[int, int]:
    """Bytes of addresses and of memory that this process holds now; 0 where the system does not tell."""
    try:
        pages = Path("/proc/self/statm").read_text().split()
    except OSError:
        return 0, 0
    size = os.sysconf("SC_PAGE_SIZE")
    return int(pages[0]) * size, int(pages[1]) * size


def address_limit() -> int | None:
    """The limit of this process's address space (`ulimit -v`); None where there is none."""
    if sys.platform == "win32":
        return None
    import resource

    limit = resource.getrlimit(resource.RLIMIT_AS)[0]
    return None if limit == resource.RLIM_INFINITY else limit


def spare_addresses() -> None:
    """Under a limit of the address space, keep malloc from reserving 64 MB of it for every thread.

    glibc does so for up to eight threads a processor; a process that uses 200 MB then needs 1.4 GB of addresses.
    Where there is no limit, or no glibc, nothing is changed.
    """
    if address_limit() is not None:
        _set_malloc({M_ARENA_MAX: 1})


def keep_freed_memory() -> None:
    """Before a large file is read block by block, keep malloc from giving each block's memory back to the system.

    It would be asked for again at once, page by page: two thirds of all page faults of a run of 260 MB, and a tenth of
    its time. What is kept is at most `KEPT` bytes for each of malloc's heaps. Without glibc nothing is changed.
    """
    if address_limit() is None:
        _set_malloc({M_MMAP_THRESHOLD: KEPT // 2, M_TRIM_THRESHOLD: KEPT})


def _set_malloc(settings: Mapping[int, int]) -> None:
    """Change settings of glibc's malloc, where there is one."""
    if not sys.platform.startswith("linux"):
        return
    import ctypes

    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is not None:
        for name, value in settings.items():
            mallopt(name, value)
