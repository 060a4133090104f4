#include "shim/python/steps/sqlite_files.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <sqlite3.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <climits>
#include <cstdarg>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace shim {
namespace {

bool is_followed = false, are_replaced = false;

// Where the scratch is, and where it was in steps before.
std::string home_now;
std::vector<std::string> homes_before;

const char* moved(const char* path, char (&room)[PATH_MAX]) {
  if (!path) return path;
  const std::string_view whole = path;
  for (const std::string& home : homes_before) {
    if (!whole.starts_with(home) || whole.substr(home.size(), 1) != "/") continue;
    const std::string_view rest = whole.substr(home.size());
    if (home_now.size() + rest.size() >= sizeof room) return path;
    char* end = std::copy(home_now.begin(), home_now.end(), room);
    *std::copy(rest.begin(), rest.end(), end) = '\0';
    return room;
  }
  return path;
}

struct FileId {
  dev_t device = 0;
  ino_t inode = 0;
  bool operator==(const FileId&) const = default;
};
FileId id_of(const struct stat& status) { return {status.st_dev, status.st_ino}; }

struct OpenFile {
  int number = -1;
  FileId now, told;
};
constexpr size_t kMostFiles = 512;
OpenFile open_files[kMostFiles];  // at the end of the last step
size_t open_count = 0;
// How many steps were gone on from. A file of each has numbers of its own, as another step's may
// have had the same ones. The kernel's devices have 32 bits; 2^40 files are more than a scratch
// has.
uint64_t generation = 0;

void tell(struct stat& status) {
  const OpenFile* end = open_files + open_count;
  const OpenFile* known =
      std::find_if(static_cast<const OpenFile*>(open_files), end,
                   [id = id_of(status)](const OpenFile& each) { return each.now == id; });
  if (known == end) {
    status.st_dev |= generation << 32;
    status.st_ino |= generation << 40;
  } else {
    status.st_dev = known->told.device;
    status.st_ino = known->told.inode;
  }
}

bool look_at(int number, struct stat& status) {
  if (::fstat(number, &status) < 0 || !S_ISREG(status.st_mode)) return false;
  tell(status);
  return true;
}

// POSIX locks are a process's on a file, whatever the descriptor.
struct Lock {
  int number = -1;
  FileId file;
  struct flock range {};
};
constexpr size_t kMostLocks = 128;
Lock locks[kMostLocks];
size_t lock_count = 0;

off_t end_of(const struct flock& range) {
  return range.l_len == 0 ? std::numeric_limits<off_t>::max() : range.l_start + range.l_len;
}

void note_lock(int number, const struct flock& range) {
  struct stat status {};
  if (range.l_whence != SEEK_SET || !look_at(number, status)) return;
  const FileId file = id_of(status);
  Lock* end = std::remove_if(locks, locks + lock_count, [&](const Lock& each) {
    return each.file == file && each.range.l_start >= range.l_start &&
           end_of(each.range) <= end_of(range);
  });
  if (range.l_type != F_UNLCK && end < locks + kMostLocks) *end++ = {number, file, range};
  lock_count = static_cast<size_t>(end - locks);
}

// SQLite's own calls, or whoever's were there before ours.
int (*old_open)(const char*, int, int);
int (*old_open_directory)(const char*, int*);
int (*old_access)(const char*, int);
int (*old_unlink)(const char*);
int (*old_mkdir)(const char*, mode_t);
int (*old_rmdir)(const char*);
ssize_t (*old_readlink)(const char*, char*, size_t);
int (*old_stat)(const char*, struct stat*);
int (*old_lstat)(const char*, struct stat*);
int (*old_fstat)(int, struct stat*);
int (*old_fcntl)(int, int, ...);

template <auto kOld>
struct AtMovedPath;
template <typename Result, typename... More, Result (**kOld)(const char*, More...)>
struct AtMovedPath<kOld> {
  static Result call(const char* path, More... more) {
    char room[PATH_MAX];
    return (*kOld)(moved(path, room), more...);
  }
};

template <auto kOld>
int stat_told(const char* path, struct stat* status) {
  const int result = AtMovedPath<kOld>::call(path, status);
  if (result == 0) tell(*status);
  return result;
}

int fstat_told(int file, struct stat* status) {
  const int result = old_fstat(file, status);
  if (result == 0) tell(*status);
  return result;
}

int fcntl_noted(int file, int command, ...) {
  va_list more;
  va_start(more, command);
  void* argument = va_arg(more, void*);
  va_end(more);
  const int result = old_fcntl(file, command, argument);
  const bool locks_it = command == F_SETLK || command == F_SETLKW;
  if (result == 0 && locks_it) note_lock(file, *static_cast<const struct flock*>(argument));
  return result;
}

// False: this SQLite has no such call.
template <typename Call>
bool replace(sqlite3_vfs* files, const char* name, Call& old, Call ours) {
  old = reinterpret_cast<Call>(files->xGetSystemCall(files, name));
  return old && files->xSetSystemCall(files, name, reinterpret_cast<sqlite3_syscall_ptr>(ours)) ==
                    SQLITE_OK;
}

void replace_calls(sqlite3_vfs* files) {
  are_replaced = replace(files, "fstat", old_fstat, fstat_told) &&
                 replace(files, "stat", old_stat, stat_told<&old_stat>) &&
                 replace(files, "fcntl", old_fcntl, fcntl_noted);
  replace(files, "lstat", old_lstat, stat_told<&old_lstat>);
  replace(files, "open", old_open, AtMovedPath<&old_open>::call);
  replace(files, "openDirectory", old_open_directory, AtMovedPath<&old_open_directory>::call);
  replace(files, "access", old_access, AtMovedPath<&old_access>::call);
  replace(files, "unlink", old_unlink, AtMovedPath<&old_unlink>::call);
  replace(files, "mkdir", old_mkdir, AtMovedPath<&old_mkdir>::call);
  replace(files, "rmdir", old_rmdir, AtMovedPath<&old_rmdir>::call);
  replace(files, "readlink", old_readlink, AtMovedPath<&old_readlink>::call);
}

// Since this was asked last; to look for one that is not there costs a search through files.
bool has_loaded_libraries() {
  static unsigned long long known = 0;
  unsigned long long loaded = 0;
  const auto note = [](dl_phdr_info* info, size_t, void* into) {
    *static_cast<unsigned long long*>(into) = info->dlpi_adds;
    return 1;
  };
  ::dl_iterate_phdr(note, &loaded);
  return std::exchange(known, loaded) != loaded;
}

void lock_again(const Lock& lock) {
  struct stat status {};
  struct flock range = lock.range;
  if (look_at(lock.number, status) && id_of(status) == lock.file)
    (void)::fcntl(lock.number, F_SETLK, &range);
}

}  // namespace

void follow_files_of_sqlite() {
  if (!is_followed || are_replaced) return;
  void* library = ::dlopen("libsqlite3.so.0", RTLD_NOW | RTLD_NOLOAD);
  if (!library) return;
  const auto find =
      reinterpret_cast<sqlite3_vfs* (*)(const char*)>(::dlsym(library, "sqlite3_vfs_find"));
  sqlite3_vfs* files = find ? find(nullptr) : nullptr;
  constexpr int kHasSystemCalls = 3;
  if (files && files->iVersion >= kHasSystemCalls && files->xSetSystemCall) replace_calls(files);
  ::dlclose(library);
}

void take_up_files_of_sqlite(const char* home, bool goes_on) {
  is_followed = true;
  const bool has_moved = goes_on && home && home_now != home;
  if (has_moved) {
    std::erase(homes_before, home);
    homes_before.push_back(home_now);
  }
  home_now = home ? home : "";
  if (!goes_on || !are_replaced) return;
  ++generation;
  struct stat status {};
  for (OpenFile* each = open_files; each < open_files + open_count; ++each) {
    const bool is_there = ::fstat(each->number, &status) == 0;
    each->now = is_there ? id_of(status) : FileId();
  }
  std::for_each(locks, locks + lock_count, lock_again);
}

void note_files_of_sqlite() {
  if (has_loaded_libraries()) follow_files_of_sqlite();
  if (!are_replaced) return;
  constexpr int kMostDescriptors = 4096;
  static OpenFile found[kMostFiles];
  size_t count = 0;
  struct stat status {};
  for (int number = 3; number < kMostDescriptors && count < kMostFiles; ++number) {
    if (look_at(number, status)) found[count++] = {number, {}, id_of(status)};
  }
  std::copy(found, found + count, open_files);
  open_count = count;
}

}  // namespace shim
