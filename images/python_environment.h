#pragma once
// A Python environment (a venv, a conda environment) as an image that holds its directories and
// nothing of the host's /usr: what it is made of, and the root of a template that uses it, in which
// every directory has the path it was made at. Its files below /usr stay the host's; their presence
// is checked before the first use.

#include <string>

#include "images/config.h"
#include "images/store.h"
#include "sandbox/mounts/mounts.h"
#include "sandbox/sys/result.h"

namespace images {

enum class EnvironmentKind : uint8_t { kVenv, kConda };

// The parts of the environment at `path`, as its interpreter reports them: starts it. Values of
// `directories` are the host's, without links. An error says that it is no environment, or why it
// cannot be packed.
sys::Result<PythonEnvironment> describe_environment(const std::string& path, EnvironmentKind kind);

// Everything that templates on the host's own files see, and the environment's directories.
sys::Result<sandbox::ImagePlan> environment_image(const Image& image, const std::string& shim);

// Checks that the host has the files that the environment needs. An error names the missing ones.
sys::Result<void> check_needs(const PythonEnvironment& python);

}  // namespace images
