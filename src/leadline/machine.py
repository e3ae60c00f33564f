"""What the machine allows: the memory that this process may use."""

import os
import resource
from pathlib import Path


def memory_limit() -> int:
    """Bytes that this process may use: the least of its own limits, its control group's and the machine's."""
    limits = [os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")]
    limits += [resource.getrlimit(kind)[0] for kind in (resource.RLIMIT_AS, resource.RLIMIT_DATA)]
    for file in ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"):
        try:
            limits.append(int(Path(file).read_text()))
        except (OSError, ValueError):
            continue
    return min(limit for limit in limits if limit > 0)
