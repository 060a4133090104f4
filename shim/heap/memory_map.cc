#include "shim/heap/memory_map.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>

#include "shim/protocol.h"

namespace shim {

MemoryMap* MemoryMap::create() {
  void* at =
      ::mmap(nullptr, sizeof(MemoryMap), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  return at == MAP_FAILED ? nullptr : static_cast<MemoryMap*>(at);
}

void MemoryMap::destroy() { ::munmap(this, sizeof *this); }

bool MemoryMap::read() {
  int fd = ::openat(kProcFd, "self/maps", O_RDONLY | O_CLOEXEC);
  if (fd < 0) return false;
  const bool done = read(fd);
  ::close(fd);
  return done;
}

bool MemoryMap::read(int maps) {
  size_t size = 0;
  ssize_t n;
  while (size + 1 < kTextBytes &&
         (n = ::pread(maps, text_ + size, kTextBytes - 1 - size, static_cast<off_t>(size))) > 0)
    size += static_cast<size_t>(n);
  text_[size] = 0;
  count_ = 0;
  foreign_allocator_ = false;
  for (char* line = text_; *line && count_ < kMaxAreas;) {
    char* end = std::strchr(line, '\n');
    if (end) *end = 0;
    parse_line(line);
    if (!end) break;
    line = end + 1;
  }
  return true;
}

// "begin-end rwxp offset major:minor inode    name"
void MemoryMap::parse_line(char* line) {
  Area area;
  char* at = line;
  area.begin = std::strtoull(at, &at, 16);
  area.end = std::strtoull(at + 1, &at, 16);
  const char* flags = at + 1;
  area.prot = (flags[0] == 'r' ? PROT_READ : 0) | (flags[1] == 'w' ? PROT_WRITE : 0) |
              (flags[2] == 'x' ? PROT_EXEC : 0);
  area.is_private = flags[3] == 'p';
  area.offset = std::strtoull(flags + 5, &at, 16);
  at = std::strchr(at + 1, ' ');
  if (!at) return;
  area.inode = std::strtoull(at, &at, 10);
  while (*at == ' ') ++at;
  area.is_anonymous = area.inode == 0;
  area.is_heap = std::strcmp(at, "[heap]") == 0;
  area.is_stack = std::strcmp(at, "[stack]") == 0;
  area.is_special = (at[0] == '[' && !area.is_heap && std::strncmp(at, "[anon", 5) != 0) ||
                    area.end > (uintptr_t{1} << 47);
  area.is_object = !area.is_anonymous && (std::strstr(at, ".so") || std::strstr(at, "/bin/"));
  for (const char* name : {"jemalloc", "tcmalloc", "mimalloc", "arrow", "polars"}) {
    if (std::strstr(at, name)) foreign_allocator_ = true;
  }
  areas_[count_++] = area;
}

PageMap::PageMap() : fd_(::openat(kProcFd, "self/pagemap", O_RDONLY | O_CLOEXEC)) {
  void* at = ::mmap(nullptr, kWindow * sizeof(uint64_t), PROT_READ | PROT_WRITE,
                    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  entries_ = at == MAP_FAILED ? nullptr : static_cast<uint64_t*>(at);
}

PageMap::~PageMap() {
  if (fd_ >= 0) ::close(fd_);
  if (entries_) ::munmap(entries_, kWindow * sizeof(uint64_t));
}

const uint64_t* PageMap::read(uintptr_t begin, size_t count) {
  if (fd_ < 0 || !entries_ || count > kWindow) return nullptr;
  ssize_t wanted = static_cast<ssize_t>(count * sizeof(uint64_t));
  ssize_t n = ::pread(fd_, entries_, static_cast<size_t>(wanted),
                      static_cast<off_t>(begin / kPage * sizeof(uint64_t)));
  return n == wanted ? entries_ : nullptr;
}

}  // namespace shim
