"""Kubernetes: the pilots are a Deployment."""

from __future__ import annotations

import re
import shlex
from typing import Any, List, Optional

from . import commands
from .base import Cluster
from .commands import ClusterError

_PRINTED_NAME = "zygo-pilot"


class Kubernetes(Cluster):
    """`Cluster`, by kubectl, in a namespace that is there. The autoscaler may start more of them than `n`.

    image       of the containers; zygo
    namespace   zygo
    most        pilots that the autoscaler scales up to; four times `n`
    context     of kubectl's configuration; the current one

    What is made has names of its own (`zygo-pilot-...`), so that several can be in a namespace, and all of it is deleted.
    """

    engine, program, pilots_require = "kubernetes", "kubectl", "minimal"

    def __init__(self, n: int = 1, *, image: str = "zygo", namespace: str = "zygo", most: Optional[int] = None,
                 context: Optional[str] = None, **options: Any) -> None:
        if options.get("require") not in (None, "minimal"):
            raise ValueError(f"require={options['require']!r}: such pods have the level minimal")
        if options.get("slot_time") is not None:
            raise ValueError("slot_time: pods have no end that is known before")
        if not re.fullmatch(r"[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?", namespace):
            raise ValueError(f"namespace={namespace!r}: expected a name of lower case letters, digits and -")
        super().__init__(n, **options)
        self._kubectl = ["kubectl", *(["--context", context] if context else []), "-n", namespace]
        self._options += ["--pod-image", image, "--pod-namespace", namespace]
        if most is not None:
            if most < n:
                raise ValueError(f"most={most}: below n={n}")
            self._options += ["--most-pilots", str(most)]
        self._kinds: List[str] = []
        self._check_printed()

    def _submit(self, printed: str) -> None:
        manifest = re.sub(rf"\b(name|secretName): {_PRINTED_NAME}\b", rf"\1: {self._name}", printed)
        self._kinds = ["secret", *(kind.lower() for kind in re.findall(r"^kind: (\w+)$", manifest, re.MULTILINE))]
        commands.run(self._secret(printed))
        commands.run([*self._kubectl, "create", "-f", "-"], given=manifest.encode())

    def _secret(self, printed: str) -> List[str]:
        """The command at the head of what is printed."""
        for line in printed.splitlines():
            words = shlex.split(line.lstrip("# ")) if " create secret generic " in line else []
            if words[:1] == ["kubectl"]:
                return [*self._kubectl, *(self._name if word == _PRINTED_NAME else word for word in words[3:])]
        raise ClusterError("what zygo has printed says nothing about a secret")

    def _selector(self) -> List[str]:
        return ["-l", f"app.kubernetes.io/name={self._name}"]

    def _cancel(self) -> None:
        if self._kinds:
            commands.run([*self._kubectl, "delete", ",".join(self._kinds), self._name, "--ignore-not-found", "--wait=false"])

    def _queue(self) -> str:
        return commands.run([*self._kubectl, "get", "pods", *self._selector(), "--no-headers", "--ignore-not-found"]).strip()

    def _can_come(self, queue: str) -> bool:
        """A Deployment goes on trying."""
        return True

    def _why(self) -> str:
        told: List[str] = []
        asked = (["describe", "deployments,replicasets,pods", *self._selector()], ["logs", *self._selector(), "--tail=5"])
        for words in asked:
            try:
                told.append(commands.run([*self._kubectl, *words]))
            except ClusterError as error:  # containers that have not started have no logs
                told.append(str(error))
        return "\n".join(told)

    def _owns(self, name: str) -> bool:
        return name.startswith(self._name + "-")
