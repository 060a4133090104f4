#include "images/job_user.h"

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>

#include "sandbox/sys/file.h"

namespace images {

using sys::Error;
using sys::OwnedFd;
using sys::Result;

namespace {

constexpr uint32_t kLargestId = 0x7fffffff;        // as container engines have it
constexpr size_t kLongestTable = size_t{4} << 20;  // bytes
constexpr size_t kLongestUser = 256;               // of what an error repeats
constexpr std::string_view kPasswd = "etc/passwd", kGroup = "etc/group";

bool is_digits(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

std::optional<uint32_t> id_in(std::string_view text) {
  uint32_t id = 0;
  if (!is_digits(text)) return std::nullopt;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), id);
  if (problem != std::errc() || id > kLargestId) return std::nullopt;
  return id;
}

std::string_view take_up_to(char separator, std::string_view& left) {
  const size_t at = std::min(left.find(separator), left.size());
  const std::string_view taken = left.substr(0, at);
  left.remove_prefix(std::min(at + 1, left.size()));
  return taken;
}

// A line of either table: NAME:PASSWORD:ID, and of passwd, :GID.
struct Line {
  std::string_view name;
  uint32_t id = 0;
  std::optional<uint32_t> gid;
};

// The first line with this name or this number.
std::optional<Line> find_line(std::string_view wanted, std::string_view table) {
  const std::optional<uint32_t> number = id_in(wanted);
  while (!table.empty()) {
    std::string_view text = take_up_to('\n', table);
    Line line;
    line.name = take_up_to(':', text);
    take_up_to(':', text);
    const std::optional<uint32_t> id = id_in(take_up_to(':', text));
    if (line.name.empty() || !id) continue;
    line.id = *id;
    line.gid = id_in(take_up_to(':', text));
    if (line.name == wanted || line.id == number) return line;
  }
  return std::nullopt;
}

Error unknown(std::string_view what, std::string_view word, std::string_view file) {
  const std::string quoted = std::string(what) + " \"" + std::string(word) + "\"";
  if (is_digits(word)) {
    return Error::because(quoted + " is more than the largest id there is, " +
                          std::to_string(kLargestId));
  }
  return Error::because(quoted + " is not in its /" + std::string(file));
}

// None where there is no such file: an image need not have one.
Result<std::string> read_table(int rootfs, std::string_view path) {
  open_how how{};
  how.flags = O_RDONLY | O_CLOEXEC | O_NONBLOCK;
  how.resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS;
  const std::string name(path);
  const OwnedFd file(
      static_cast<int>(::syscall(SYS_openat2, rootfs, name.c_str(), &how, sizeof how)));
  if (!file && (errno == ENOENT || errno == ENOTDIR)) return std::string();
  if (!file) return Error::from_errno("open its /" + name);
  struct stat info {};
  if (::fstat(file.get(), &info) < 0) return Error::from_errno("stat its /" + name);
  if (!S_ISREG(info.st_mode)) return Error::because("its /" + name + " is no regular file");
  Result<std::string> text = sys::read_all(file.get(), kLongestTable);
  if (!text) return std::move(text).error().context("its /" + name);
  return text;
}

}  // namespace

Result<std::optional<JobUser>> find_user(std::string_view user, std::string_view passwd,
                                         std::string_view group) {
  if (user.size() > kLongestUser) {
    return Error::because("its user has " + std::to_string(user.size()) + " characters; at most " +
                          std::to_string(kLongestUser) + " can be a name");
  }
  const std::string_view name = take_up_to(':', user);  // what is left is the group's
  if (name.empty() || name == "root") return std::optional<JobUser>();
  JobUser found;
  if (const std::optional<Line> line = find_line(name, passwd)) {
    found = {line->id, line->gid.value_or(0)};
  } else if (const std::optional<uint32_t> uid = id_in(name)) {
    found.uid = *uid;
  } else {
    return unknown("its user", name, kPasswd);
  }
  if (found.uid == 0) return std::optional<JobUser>();
  if (user.empty()) return std::optional(found);
  if (const std::optional<Line> line = find_line(user, group)) {
    found.gid = line->id;
  } else if (const std::optional<uint32_t> gid = id_in(user)) {
    found.gid = *gid;
  } else {
    return unknown("its user's group", user, kGroup);
  }
  return std::optional(found);
}

Result<std::optional<JobUser>> user_of(const Image& image) {
  const std::string& user = image.config.user;
  if (user.empty()) return std::optional<JobUser>();
  auto in_image = [&image](Error error) { return std::move(error).context("image " + image.name); };
  auto rootfs = sys::open(image.rootfs, O_PATH | O_DIRECTORY | O_NOFOLLOW);
  if (!rootfs) return in_image(std::move(rootfs).error());
  std::array<std::string, 2> tables;
  for (size_t i = 0; i < tables.size(); ++i) {
    auto text = read_table(rootfs->get(), i == 0 ? kPasswd : kGroup);
    if (!text) return in_image(std::move(text).error());
    tables[i] = std::move(*text);
  }
  auto found = find_user(user, tables[0], tables[1]);
  if (!found) return in_image(std::move(found).error());
  return found;
}

}  // namespace images
