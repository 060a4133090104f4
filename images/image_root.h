#pragma once
// The root of a template whose image is an imported one: a plan, as host_image() makes for the
// host's own files. Made in the daemon, before a template starts; carried out by the launcher.

#include <string>

#include "images/store.h"
#include "sandbox/mounts/mounts.h"
#include "sandbox/sys/result.h"

namespace images {

// Everything on the image's top level, read-only, but for what a job gets of its own: /proc, /dev,
// /tmp. /sys and /run are left out. `shim` is the host directory that appears as
// kShimTarget. Symbolic links of the top level stay links, and lead within the image only. An error
// when the image cannot be read or has an absurd top level.
sys::Result<sandbox::ImagePlan> image_plan(const Image& image, const std::string& shim);

}  // namespace images
