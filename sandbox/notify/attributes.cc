#include "sandbox/notify/attributes.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <string>
#include <string_view>
#include <unordered_map>

#include "sandbox/notify/files.h"
#include "sandbox/notify/memory.h"
#include "sandbox/notify/words.h"
#include "sandbox/seccomp/syscall_names.h"
#include "sandbox/sys/file.h"
#include "sandbox/sys/identity.h"

namespace sandbox {
namespace {

enum class Change : uint8_t { kMode, kOwner, kSpecs, kValues, kSeconds, kAttribute, kLock };
constexpr int8_t kAbsent = -1;

// Numbers of arguments. A call without a path is by the descriptor; one with both is, too, where
// the path is NULL or empty.
struct AttributeCall {
  const char* name;
  Change change;
  int8_t descriptor = kAbsent;
  int8_t path = kAbsent;
  int8_t what = kAbsent;  // mode, uid (the gid follows), or the address of times
};

constexpr AttributeCall kCalls[] = {
    {"fchmod", Change::kMode, 0, kAbsent, 1},
    {"chmod", Change::kMode, kAbsent, 0, 1},
    {"fchmodat", Change::kMode, 0, 1, 2},
    {"fchown", Change::kOwner, 0, kAbsent, 1},
    {"chown", Change::kOwner, kAbsent, 0, 1},
    {"lchown", Change::kOwner, kAbsent, 0, 1},
    {"fchownat", Change::kOwner, 0, 1, 2},
    {"utimensat", Change::kSpecs, 0, 1, 2},
    {"futimesat", Change::kValues, 0, 1, 2},
    {"utimes", Change::kValues, kAbsent, 0, 1},
    {"utime", Change::kSeconds, kAbsent, 0, 1},
    {"fsetxattr", Change::kAttribute, 0},
    {"fremovexattr", Change::kAttribute, 0},
    {"setxattr", Change::kAttribute, kAbsent, 0},
    {"lsetxattr", Change::kAttribute, kAbsent, 0},
    {"removexattr", Change::kAttribute, kAbsent, 0},
    {"lremovexattr", Change::kAttribute, kAbsent, 0},
    {"flock", Change::kLock, 0},
};

const AttributeCall* attribute_call(int number) {
  static const auto calls = [] {
    std::unordered_map<int, const AttributeCall*> out;
    for (const AttributeCall& call : kCalls) {
      if (CallNumber known = call_number(call.name); known.value >= 0) out[known.value] = &call;
    }
    return out;
  }();
  auto found = calls.find(number);
  return found == calls.end() ? nullptr : found->second;
}

Ruling refusal_of(const Notice& notice, std::string_view argument) {
  Ruling ruling;
  ruling.refusal = Refusal{name_of_call(notice.arch, notice.nr), escaped(argument), EPERM};
  ruling.error = EPERM;
  return ruling;
}

Ruling without_means(int error) {
  Ruling ruling = fail_quietly(error);
  ruling.unseen = true;
  return ruling;
}

bool means_are_lacking(int error) { return error == EMFILE || error == ENFILE || error == ENOMEM; }

// ---- whose a file is

// The device of all files in memory that no mount shows: memfd_create's and shared anonymous ones.
std::optional<dev_t> device_of_memfds() {
  static const std::optional<dev_t> device = []() -> std::optional<dev_t> {
    auto file = sys::memfd("zygo-device", 0);
    struct stat status {};
    if (!file || ::fstat(file->get(), &status) < 0) return std::nullopt;
    return status.st_dev;
  }();
  return device;
}

// A link of /proc that names a file has an absolute path; pipes, sockets and their kin have not.
struct Place {
  bool scratch = false, nameless = false, device = false;
  std::string path;
  bool own() const { return scratch || nameless; }
};

Place place_of(const CellView& cell, int file) {
  Place place;
  const std::optional<std::string> path = Caller{::getpid()}.directory(file);
  struct stat status {};
  if (::fstat(file, &status) < 0) return place;
  place.nameless =
      !path ? S_ISFIFO(status.st_mode) || S_ISSOCK(status.st_mode) || (status.st_mode & S_IFMT) == 0
            : device_of_memfds() == status.st_dev;
  place.device = S_ISCHR(status.st_mode);
  if (!path) return place;
  place.path = *path;
  const std::string& root = cell.scratch_path;
  place.scratch =
      path->starts_with(root) && (path->size() == root.size() || (*path)[root.size()] == '/');
  return place;
}

// ---- the changes, on a file of the job's own

std::string link_to(int file) { return "/proc/self/fd/" + std::to_string(file); }

// Only what may be in effect there: a program that takes another's rights is of no use to a job.
int change_mode(int file, uint64_t mode) {
  return ::chmod(link_to(file).c_str(), static_cast<mode_t>(mode) & 01777) < 0 ? errno : 0;
}

// Nobody may give files away without privilege, so what can succeed changes nothing.
int change_owner(int file, uint64_t uid, uint64_t gid) {
  struct stat status {};
  if (::fstat(file, &status) < 0) return errno;
  auto stays = [](uint64_t wanted, uint32_t has) {
    const uint32_t id = static_cast<uint32_t>(wanted);
    return id == has || id == ~uint32_t{0};
  };
  return stays(uid, status.st_uid) && stays(gid, status.st_gid) ? 0 : EPERM;
}

// The times that a call names, as utimensat takes them; an errno if they are none.
int read_times(const Notice& notice, Change change, uint64_t address, timespec (&times)[2]) {
  const size_t size = change == Change::kSeconds ? 2 * sizeof(int64_t) : 4 * sizeof(int64_t);
  const auto bytes = Caller{notice.pid, notice.reader}.bytes(address, size);
  if (!bytes || bytes->size() != size) return EFAULT;
  int64_t words[4] = {};
  std::memcpy(words, bytes->data(), size);
  if (change == Change::kSeconds) {
    times[0].tv_sec = words[0];
    times[1].tv_sec = words[1];
    return 0;
  }
  for (int i = 0; i < 2; ++i) {
    const int64_t part = words[2 * i + 1];
    if (change == Change::kValues && (part < 0 || part >= 1'000'000)) return EINVAL;
    times[i].tv_sec = words[2 * i];
    times[i].tv_nsec = change == Change::kValues ? part * 1000 : part;
  }
  return 0;
}

int change_times(int file, const Notice& notice, const AttributeCall& call) {
  timespec times[2] = {};
  const uint64_t address = notice.args[call.what];
  if (address != 0) {
    if (int error = read_times(notice, call.change, address, times); error != 0) return error;
  }
  const timespec* wanted = address != 0 ? times : nullptr;
  return ::utimensat(AT_FDCWD, link_to(file).c_str(), wanted, 0) < 0 ? errno : 0;
}

int change(int file, const CellView& cell, const Notice& notice, const AttributeCall& call) {
  const auto arg = [&](int i) { return notice.args[call.what + i]; };
  sys::FileIdentity as_job(cell.owner);
  switch (call.change) {
    case Change::kMode:
      return change_mode(file, arg(0));
    case Change::kOwner:
      return change_owner(file, arg(0), arg(1));
    case Change::kSpecs:
    case Change::kValues:
    case Change::kSeconds:
      return change_times(file, notice, call);
    case Change::kAttribute:
      return EOPNOTSUPP;  // as on many file systems: nobody counts what is kept there
    case Change::kLock:
      return 0;
  }
  return EPERM;
}

Ruling rule_on_file(int file, const CellView& cell, const Notice& notice,
                    const AttributeCall& call) {
  const Place place = place_of(cell, file);
  // Only its own processes can wait for a lock in scratch, and what a descriptor that was exchanged
  // meanwhile locks is free again when the job ends.
  if (call.change == Change::kLock) return place.scratch ? go_on() : fail_quietly(0);
  if (place.device) return fail_quietly(EPERM);  // its stdin, most often: /dev/null
  if (!place.own()) return refusal_of(notice, place.path);
  return fail_quietly(change(file, cell, notice, call));
}

// ---- which file is meant

Ruling rule_on_descriptor(const CellView& cell, const Notice& notice, const AttributeCall& call,
                          int descriptor) {
  const std::string where = descriptor == AT_FDCWD ? "cwd" : "fd/" + std::to_string(descriptor);
  const std::string link = "/proc/" + std::to_string(notice.pid) + "/" + where;
  auto opened = [&] {
    sys::FileIdentity as_caller(notice.reader);
    return sys::open(link, O_PATH);
  }();
  if (opened) return rule_on_file(opened->get(), cell, notice, call);
  const int error = opened.error().code();
  if (means_are_lacking(error)) return without_means(EMFILE);
  return fail_quietly(error == ENOENT ? EBADF : EPERM);
}

Ruling rule_on_path(const CellView& cell, const Notice& notice, const AttributeCall& call) {
  const FileCall& by_path = *file_call(notice.nr);
  const FileTarget target = target_of(by_path, cell, notice);
  if (target.descriptor) return rule_on_descriptor(cell, notice, call, *target.descriptor);
  const FileReach reached =
      reach_of(by_path, cell, notice);  // the label, also of what is not there
  if (reached.reach == Reach::kUnseen) return without_means(EMFILE);
  if (reached.reach == Reach::kOutside || cell.profile == Profile::kPure)
    return refusal_of(notice, reached.path);
  if (reached.reach == Reach::kUnreadable) return fail_quietly(EFAULT);
  if (target.file) return rule_on_file(target.file.get(), cell, notice, call);
  if (means_are_lacking(target.error)) return without_means(EMFILE);
  return fail_quietly(target.error);
}

// NULL, or nothing where the flag or the call's own rule make that the descriptor.
bool is_by_descriptor(const Notice& notice, const AttributeCall& call) {
  if (call.path == kAbsent) return true;
  if (call.descriptor == kAbsent) return false;
  if (notice.args[call.path] == 0) return true;
  const auto path = Caller{notice.pid, notice.reader}.path(notice.args[call.path]);
  constexpr uint64_t kEmptyPath = AT_EMPTY_PATH;
  // Calls without flags have none in the register where the others keep them: fchmodat, futimesat.
  const bool has_flags = call.change == Change::kOwner || call.change == Change::kSpecs;
  const int flags = call.change == Change::kOwner ? 4 : 3;
  return path && path->empty() && has_flags && (notice.args[flags] & kEmptyPath) != 0;
}

}  // namespace

bool changes_attributes(const CellView& cell, const Notice& notice) {
  return !cell.scratch_path.empty() && attribute_call(notice.nr) != nullptr;
}

Ruling rule_on_attributes(const CellView& cell, const Notice& notice) {
  const AttributeCall& call = *attribute_call(notice.nr);
  if (!is_by_descriptor(notice, call)) return rule_on_path(cell, notice, call);
  const int descriptor = static_cast<int>(static_cast<uint32_t>(notice.args[call.descriptor]));
  return rule_on_descriptor(cell, notice, call, descriptor);
}

}  // namespace sandbox
