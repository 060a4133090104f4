#include "shim/files.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "sandbox/sys/fd.h"

namespace shim {
namespace {

bool is_relative(std::string_view path) {
  if (path.empty() || path.front() == '/' || path.find('\0') != path.npos) return false;
  for (std::string_view rest = path;;) {
    const size_t end = rest.find('/');
    if (rest.substr(0, end) == "..") return false;
    if (end == rest.npos) return true;
    rest.remove_prefix(end + 1);
  }
}

int make_parents(const std::string& path) {
  for (size_t slash = path.find('/'); slash != path.npos; slash = path.find('/', slash + 1)) {
    const std::string parent = path.substr(0, slash);
    if (::mkdir(parent.c_str(), 0755) < 0 && errno != EEXIST) return errno;
  }
  return 0;
}

int write_file(const std::string& path, std::string_view content, mode_t mode) {
  sys::OwnedFd file(::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, mode));
  if (!file) return errno;
  while (!content.empty()) {
    const ssize_t written = ::write(file.get(), content.data(), content.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return errno;
    content.remove_prefix(static_cast<size_t>(written));
  }
  return 0;
}

int make_link(const std::string& path, std::string_view target) {
  return ::symlink(std::string(target).c_str(), path.c_str()) < 0 ? errno : 0;
}

}  // namespace

int write_files(const Items& files, std::string& failed) {
  Reader from(files.bytes);
  for (uint32_t i = 0; i < files.count; ++i) {
    from.open(Tag::kList);
    failed.assign(from.text(Tag::kStr));
    const std::string_view content = from.text(Tag::kBytes);
    const bool is_link = from.peek() == static_cast<char>(Tag::kNone);
    if (is_link) from.tag();
    const bool executable = !is_link && from.truth();
    if (from.broken() || !is_relative(failed)) return EINVAL;
    if (const int error = make_parents(failed); error != 0) return error;
    if (failed.back() == '/') continue;
    const int error = is_link ? make_link(failed, content)
                              : write_file(failed, content, executable ? 0755 : 0644);
    if (error != 0) return error;
  }
  return 0;
}

}  // namespace shim
