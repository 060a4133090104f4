"""What is inside a package that is not zygo's own: Debian's packages whose code was linked in, with their versions and
the texts of their licenses; and the list of everything in SPDX 2.3."""

from __future__ import annotations

import hashlib
import json
import subprocess
from dataclasses import dataclass
from datetime import datetime, timezone
from pathlib import Path
from typing import Any, Dict, List, Sequence

# Linked in as archives, compiled in from headers or sources, embedded as text, or beside the programs.
PACKAGES = ("libarchive-dev", "nettle-dev", "libseccomp-dev", "libcap-dev", "libuv1-dev", "libsqlite3-dev", "libssl-dev",
            "libyaml-cpp-dev", "zlib1g-dev", "libzstd-dev", "liblz4-dev", "liblzma-dev", "libbz2-dev", "libwslay1", "libfmt-dev",
            "nlohmann-json3-dev", "libcli11-dev", "node-llhttp", "libjs-codemirror", "libstdc++-12-dev", "libgcc-12-dev",
            "libc6-dev")


@dataclass(frozen=True)
class Part:
    package: str
    version: str
    source: str
    source_version: str

    @property
    def license(self) -> bytes:
        return Path(f"/usr/share/doc/{self.package}/copyright").read_bytes()


def parts() -> List[Part]:
    asked = "${Package}\t${Version}\t${source:Package}\t${source:Version}\t${db:Status-Status}\n"
    lines = subprocess.run(["dpkg-query", "-W", "-f", asked, *PACKAGES], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                           text=True, check=False).stdout.splitlines()  # the editor may be absent
    return sorted((Part(*fields[:4]) for line in lines if (fields := line.split("\t"))[4] == "installed"),
                  key=lambda part: part.package)


def _spdx_package(name: str, identity: str, version: str, license_: str) -> Dict[str, Any]:
    return {"SPDXID": identity, "name": name, "versionInfo": version, "downloadLocation": "NOASSERTION", "filesAnalyzed": False,
            "licenseConcluded": license_, "licenseDeclared": license_, "copyrightText": "NOASSERTION"}


def spdx(version: str, files: Dict[str, bytes], parts_: List[Part], epoch: int, base: Sequence[Part] = ()) -> bytes:
    """`base`: what lies below the files, in an image."""
    listed = [{"SPDXID": f"SPDXRef-File-{number}", "fileName": f"./{path}",
               "checksums": [{"algorithm": name.upper(), "checksumValue": hashlib.new(name, content).hexdigest()}
                             for name in ("sha1", "sha256")],
               "licenseConcluded": "NOASSERTION", "copyrightText": "NOASSERTION"}
              for number, (path, content) in enumerate(sorted(files.items()))]
    whole = hashlib.sha256(json.dumps(listed).encode()).hexdigest()
    root = "SPDXRef-Package-zygo"
    packages = [_spdx_package("zygo", root, version, "Apache-2.0")]
    relations = [("SPDXRef-DOCUMENT", "DESCRIBES", root)]
    for kind, part in [*(("Package", part) for part in parts_), *(("Base", part) for part in base)]:
        identity = f"SPDXRef-{kind}-" + part.package.replace("+", "p")
        package = _spdx_package(part.package, identity, part.version, "NOASSERTION")
        reference = f"pkg:deb/debian/{part.package}@{part.version}?arch=amd64"
        package["externalRefs"] = [{"referenceCategory": "PACKAGE-MANAGER", "referenceType": "purl", "referenceLocator": reference}]
        package["sourceInfo"] = f"Debian source package {part.source} {part.source_version}"
        packages.append(package)
        relations.append((root, "CONTAINS", identity))
    relations += [(root, "CONTAINS", str(file["SPDXID"])) for file in listed]
    document = {"spdxVersion": "SPDX-2.3", "dataLicense": "CC0-1.0", "SPDXID": "SPDXRef-DOCUMENT", "name": f"zygo-{version}",
                "documentNamespace": f"https://spdx.org/spdxdocs/zygo-{version}-{whole}",
                "creationInfo": {"created": datetime.fromtimestamp(epoch, timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ"),
                                 "creators": ["Tool: zygo-tools-package"]},
                "packages": packages, "files": listed,
                "relationships": [{"spdxElementId": a, "relationshipType": kind, "relatedSpdxElement": b}
                                  for a, kind, b in relations]}
    return (json.dumps(document, indent=1) + "\n").encode()
