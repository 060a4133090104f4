#pragma once
// Images made of layers: an OCI image layout and the output of `docker save`, as directories. Every
// blob's SHA-256 is checked before its contents are used; layers are applied the lowest first, with
// their whiteouts. From an index of several the image for this machine is taken.

#include <string>

#include "images/config.h"
#include "images/progress.h"
#include "images/tree/tree_writer.h"

namespace images {

enum class SourceKind : uint8_t { kTree, kLayout, kSaved };

// The kind of the directory's content: an OCI layout has files oci-layout and index.json, that of
// `docker save` a manifest.json that lists layers. Anything else is a root file system (kTree).
sys::Result<SourceKind> kind_of(int directory);

// `kind` is kLayout or kSaved; `label` names the directory in errors.
sys::Result<ImageConfig> apply_layers(SourceKind kind, int directory, const std::string& label,
                                      TreeWriter& into, const Watch& watch = {});

}  // namespace images
