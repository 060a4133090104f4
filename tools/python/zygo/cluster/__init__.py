"""Pilots on a cluster as a context manager: a batch engine starts them, a router gathers them, a `zygo.Pool` uses them.

    with zygo.cluster.Slurm(16, cpus=4, directives={"partition": "short"}) as cluster:
        print(cluster.pool().call(pow, 2, 10))

Read base.py first; engines have a file each.
"""

from __future__ import annotations

from .base import Cluster
from .commands import ClusterError
from .htcondor import HTCondor
from .kubernetes import Kubernetes
from .slurm import Slurm
from .ssh import SSH

__all__ = ["Cluster", "ClusterError", "HTCondor", "Kubernetes", "SSH", "Slurm"]
