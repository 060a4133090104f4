#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "shim/state/node_view.h"
#include "shim/state/restore.h"

namespace shim::state {
namespace {

int write_content(int file, const Entry& entry) {
  const char* from = node() + entry.at;
  for (uint64_t left = entry.size; left > 0;) {
    const ssize_t written = ::write(file, from, left);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return errno;
    from += written;
    left -= static_cast<uint64_t>(written);
  }
  return 0;
}

// With modes by which all can be opened; their own come last, by restore_memory().
int restore_entry(const Entry& entry) {
  const char* path = text_of(entry.path);
  switch (entry.kind) {
    case EntryKind::kDirectory:
      return ::mkdir(path, 0700) < 0 ? errno : 0;
    case EntryKind::kSymbolicLink:
      return ::symlink(text_of(entry.target), path) < 0 ? errno : 0;
    case EntryKind::kHardLink:
      return ::link(text_of(entry.target), path) < 0 ? errno : 0;
    case EntryKind::kFile:
      break;
  }
  const int file = ::open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (file < 0) return errno;
  const int error = write_content(file, entry);
  ::close(file);
  return error;
}

// What open(2) needs to open the same file again: neither how it was made, nor that it had no name.
int flags_of(const Descriptor& descriptor) {
  constexpr unsigned kNotAgain = O_CREAT | O_EXCL | O_TRUNC | O_NOCTTY;
  const bool had_no_name = (descriptor.flags & O_TMPFILE) == O_TMPFILE;
  return static_cast<int>(descriptor.flags & ~(kNotAgain | (had_no_name ? O_TMPFILE : 0)));
}

int restore_descriptor(const Descriptor& descriptor) {
  const int flags = flags_of(descriptor);
  if (descriptor.same_as >= 0)
    return ::dup3(descriptor.same_as, descriptor.number, flags & O_CLOEXEC) < 0 ? errno : 0;
  const int file = ::open(text_of(descriptor.path), flags);
  if (file < 0) return errno;
  const off_t offset = static_cast<off_t>(descriptor.offset);
  if (!(flags & O_PATH) && ::lseek(file, offset, SEEK_SET) < 0) return errno;
  if (file == descriptor.number) return 0;
  const int made = ::dup3(file, descriptor.number, flags & O_CLOEXEC);
  const int error = made < 0 ? errno : 0;
  ::close(file);
  return error;
}

// Its descriptor is not needed any more then.
int map_file(int file, uintptr_t where, uint64_t& bytes) {
  struct stat status {};
  if (::fstat(file, &status) < 0) return errno;
  bytes = static_cast<uint64_t>(status.st_size);
  void* at = ::mmap(reinterpret_cast<void*>(where), bytes, PROT_READ,
                    MAP_PRIVATE | MAP_FIXED_NOREPLACE, file, 0);
  if (at == MAP_FAILED) return errno;
  ::close(file);
  return 0;
}

}  // namespace

int map_node(const int* files, unsigned count) {
  uint64_t bytes = 0;
  if (int error = map_file(files[0], kNodeAddress, bytes); error != 0) return error;
  const bool fits = header().magic == kMagic && header().bytes == bytes &&
                    header().files == count && count <= kMostFiles &&
                    mapped_bytes() <= kEndOfOurs - kNodeAddress;
  if (!fits) return EINVAL;
  for (unsigned i = 1; i < count; ++i) {
    const int error = map_file(files[i], reinterpret_cast<uintptr_t>(file_at(i)), bytes);
    if (error != 0) return error;
    if (bytes != header().file_bytes[i]) return EINVAL;
  }
  return 0;
}

int restore_files() {
  const mode_t mask = ::umask(0);
  int error = 0;
  for (uint32_t i = 0; error == 0 && i < header().entries; ++i) error = restore_entry(entries()[i]);
  ::umask(mask);
  return error;
}

int free_descriptor() {
  int number = 3;
  for (bool is_taken = true; is_taken;) {
    is_taken = false;
    for (uint32_t i = 0; i < header().descriptors; ++i)
      is_taken = is_taken || descriptors()[i].number == number;
    if (is_taken) ++number;
  }
  return number;
}

int restore_descriptors() {
  int error = 0;
  for (uint32_t i = 0; error == 0 && i < header().descriptors; ++i)
    error = restore_descriptor(descriptors()[i]);
  ::umask(header().umask);
  return error;
}

}  // namespace shim::state
