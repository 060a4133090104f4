#include "shim/seal_code.h"

#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <set>
#include <string>
#include <vector>

#include "sandbox/sys/fd.h"
#include "sandbox/sys/file.h"
#include "shim/protocol.h"

#ifndef SYS_mseal
#define SYS_mseal 462
#endif

namespace shim {
namespace {

// One line of /proc/self/maps that names a file.
struct Mapping {
  uintptr_t begin = 0, end = 0;
  bool writable = false, executable = false, shared = false;
  std::string file;  // "major:minor inode"
};

// "begin-end rwxp offset major:minor inode    name"; nothing of a file: false.
bool parse(const char* line, Mapping& mapping) {
  char flags[5] = {}, device[16] = {};
  unsigned long begin = 0, end = 0, offset = 0, inode = 0;
  if (std::sscanf(line, "%lx-%lx %4s %lx %15s %lu", &begin, &end, flags, &offset, device, &inode) !=
          6 ||
      inode == 0)
    return false;
  mapping = {begin,           end,
             flags[1] == 'w', flags[2] == 'x',
             flags[3] == 's', std::string(device) + " " + std::to_string(inode)};
  return true;
}

std::vector<Mapping> mappings() {
  std::vector<Mapping> found;
  sys::OwnedFd maps(::openat(kProcFd, "self/maps", O_RDONLY | O_CLOEXEC));
  auto text = maps ? sys::read_all(maps.get()) : sys::Result<std::string>(std::string());
  if (!text) return found;
  for (size_t at = 0; at < text->size();) {
    const size_t end = std::min(text->find('\n', at), text->size());
    Mapping mapping;
    if (parse(text->substr(at, end - at).c_str(), mapping)) found.push_back(std::move(mapping));
    at = end + 1;
  }
  return found;
}

}  // namespace

void seal_code() {
  const std::vector<Mapping> all = mappings();
  std::set<std::string> code;
  for (const Mapping& mapping : all) {
    if (mapping.executable) code.insert(mapping.file);
  }
  for (const Mapping& mapping : all) {
    if (mapping.writable || mapping.shared || !code.contains(mapping.file)) continue;
    if (::syscall(SYS_mseal, mapping.begin, mapping.end - mapping.begin, 0UL) < 0) return;
  }
}

}  // namespace shim
