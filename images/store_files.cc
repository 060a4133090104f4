#include "images/store_files.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <set>

#include "images/tree/directory_names.h"
#include "images/tree/remove_tree.h"
#include "sandbox/sys/file.h"

namespace images {

using sys::Error;
using sys::OwnedFd;
using sys::Result;

namespace {

constexpr std::string_view kWork = "tmp-", kContent = "sha256-", kRecord = ".json";
constexpr const char* kUnfinished = ".unfinished";  // in names/, under the lock
constexpr size_t kLongestRecord = size_t{1} << 20;

Result<void> make_directories(const std::string& path, mode_t mode) {
  for (size_t at = path.find('/', 1);; at = path.find('/', at + 1)) {
    const bool last = at == std::string::npos;
    const std::string part = path.substr(0, at);
    if (::mkdir(part.c_str(), last ? mode : 0755) < 0 && errno != EEXIST)
      return Error::from_errno("mkdir " + part);
    if (last) return {};
  }
}

Result<void> take(int file, const std::string& path) {
  while (::flock(file, LOCK_EX) < 0) {
    if (errno != EINTR) return Error::from_errno("lock " + path);
  }
  return {};
}

std::string random_name() {
  uint64_t number = 0;
  VERIFY(::getrandom(&number, sizeof number, 0) == sizeof number);
  return std::string(kWork) + std::to_string(::getpid()) + "-" + std::to_string(number);
}

Result<LockedStore> open_store(const std::string& root) {
  LockedStore store;
  store.lock = TRY(lock_file(root + "/lock"));
  store.images = TRY(sys::open(root + "/images", O_RDONLY | O_DIRECTORY));
  store.names = TRY(sys::open(root + "/names", O_RDONLY | O_DIRECTORY));
  return store;
}

// First out of sight, so that half of a content is never taken for the whole.
Result<void> remove_content(const LockedStore& store, const std::string& name) {
  const std::string aside = random_name();
  if (::renameat(store.images.get(), name.c_str(), store.images.get(), aside.c_str()) < 0)
    return Error::from_errno("rename " + name);
  return remove_tree(store.images.get(), aside);
}

// Its owner holds a lock on it as long as it lives.
bool is_abandoned(const LockedStore& store, const std::string& name) {
  auto directory = sys::open_at(store.images.get(), name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
  return directory && ::flock(directory->get(), LOCK_EX | LOCK_NB) == 0;
}

}  // namespace

Result<OwnedFd> lock_file(const std::string& path) {
  OwnedFd file = TRY(sys::open(path, O_RDWR | O_CREAT | O_NOFOLLOW, 0600));
  TRY(take(file.get(), path));
  return file;
}

// Others may pass through but not look around: jobs have other uids, and an image may hold what not
// everybody on the host should find.
Result<LockedStore> lock_store(const std::string& root) {
  TRY(make_directories(root, 0711));
  TRY(make_directories(root + "/images", 0711));
  TRY(make_directories(root + "/names", 0700));
  return open_store(root);
}

Result<std::optional<LockedStore>> lock_existing(const std::string& root) {
  if (::access((root + "/names").c_str(), F_OK) < 0 && errno == ENOENT)
    return std::optional<LockedStore>();
  return std::optional<LockedStore>(TRY(open_store(root)));
}

Result<Workspace> Workspace::create(const LockedStore& store) {
  std::string name = random_name();
  if (::mkdirat(store.images.get(), name.c_str(), 0700) < 0)
    return Error::from_errno("mkdir " + name);
  Workspace made(TRY(sys::duplicate(store.images.get())), OwnedFd(), std::move(name));
  made.directory_ =
      TRY(sys::open_at(store.images.get(), made.name_, O_RDONLY | O_DIRECTORY | O_NOFOLLOW));
  TRY(take(made.fd(), made.name_));
  return made;
}

// The next import removes what cannot be removed now.
Workspace::~Workspace() {
  if (images_) static_cast<void>(remove_tree(images_.get(), name_).ok());
}

Result<void> sweep(const LockedStore& store) {
  std::set<std::string> wanted;
  bool all_known = true;
  for (const std::string& name : TRY(names_of(store.names.get()))) {
    auto record = read_name(store.names.get(), name);
    if (record) wanted.insert(content_directory(record->digest));
    all_known = all_known && record.ok();
  }
  for (const std::string& each : TRY(names_in(store.images.get()))) {
    if (each.starts_with(kWork) && is_abandoned(store, each))
      TRY(remove_tree(store.images.get(), each));
    // A name that cannot be read may refer to any content.
    if (all_known && each.starts_with(kContent) && !wanted.contains(each))
      TRY(remove_content(store, each));
  }
  return {};
}

std::string content_directory(const std::string& digest) {
  std::string name = digest;
  std::replace(name.begin(), name.end(), ':', '-');
  return name;
}

std::string name_file(const std::string& name) { return name + std::string(kRecord); }

Result<NameRecord> read_name(int names, const std::string& name) {
  const OwnedFd file = TRY(sys::open_at(names, name_file(name), O_RDONLY | O_NOFOLLOW));
  return parse_name(TRY(sys::read_all(file.get(), kLongestRecord)), "names/" + name_file(name));
}

Result<std::vector<std::string>> names_of(int names) {
  std::vector<std::string> all;
  for (const std::string& file : TRY(names_in(names))) {
    if (file.ends_with(kRecord) && file[0] != '.')
      all.push_back(file.substr(0, file.size() - kRecord.size()));
  }
  return all;
}

Result<void> sync_directory(int directory) {
  if (::fsync(directory) < 0) return Error::from_errno("fsync");
  return {};
}

Result<void> write_durably(int directory, const std::string& name, std::string_view text) {
  const OwnedFd file =
      TRY(sys::open_at(directory, kUnfinished, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW, 0644));
  auto written = sys::write_all(file.get(), text);
  if (!written) return std::move(written).error().context(name);
  if (::fsync(file.get()) < 0) return Error::from_errno("fsync " + name);
  if (::renameat(directory, kUnfinished, directory, name.c_str()) < 0)
    return Error::from_errno("rename " + name);
  return sync_directory(directory);
}

}  // namespace images
