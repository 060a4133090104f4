#pragma once
// Whether a library can be preloaded into the programs of jobs (ld.so(8)). Reads the disk.

#include <string>

namespace runtime {

// Whose programs are to load it.
enum class Reader {
  kOurselves,  // they have the daemon's id
  kOthers,     // ids of their own, which nobody has and no group knows
};

// Why they cannot, a sentence that begins with the path; empty: they can. The loader says nothing
// to us: the program then runs without.
std::string objection_to_preload(const std::string& path, Reader reader);

}  // namespace runtime
