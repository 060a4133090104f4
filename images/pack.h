#pragma once
// Packed environments: a Python environment of many files as one archive, in a place that is slow
// to walk, and unpacked once into the store of each host that uses it. The archive's first member
// identifies the result, so that a host that has it already reads no further.

#include <string>

#include "images/python_environment.h"
#include "images/store.h"

namespace images {

inline constexpr const char* kPackRecord = ".zygo-environment.json";  // the first member
inline constexpr size_t kLongestPackRecord = size_t{1} << 20;

struct Packed {
  std::string digest;  // of the image that it becomes
  PythonEnvironment python;
  uint64_t bytes = 0, entries = 0;  // of its files
  uint64_t archive_bytes = 0;
};

// Writes the archive `output`, whole or not at all; the same environment gives the same bytes.
// `root` is that of a store, in which a copy lies meanwhile.
sys::Result<Packed> pack_environment(const std::string& root, const PythonEnvironment& python,
                                     const std::string& output, const Watch& watch = {},
                                     const TreeLimits& limits = {});

// A file that is compressed as packed environments are, and so is no interpreter.
bool looks_packed(const std::string& path);

// The image of a packed environment, unpacked now unless the store has it. Of any number of
// processes that ask at once, one unpacks and the others wait for it.
sys::Result<Image> obtain_environment(const std::string& root, const std::string& path,
                                      const Watch& watch = {});

}  // namespace images
