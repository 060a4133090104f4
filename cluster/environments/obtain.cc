#include "cluster/environments/obtain.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>

#include "cluster/environments/offered.h"
#include "images/sha256.h"
#include "images/store_files.h"
#include "sandbox/sys/file.h"

namespace cluster {

using sys::Error;
using sys::OwnedFd;
using sys::Result;

namespace {

constexpr sys::Milliseconds kPatience{30'000};  // of silence
constexpr int kLook = 200;                      // milliseconds
constexpr size_t kLongestList = size_t{1} << 20;

// Nobody tells when a lock is free, so whoever may be told to stop has to look again and again.
Result<OwnedFd> lock_for(const std::string& path, int stop) {
  OwnedFd file(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0644));
  if (!file) return Error::from_errno(path);
  while (::flock(file.get(), LOCK_EX | LOCK_NB) < 0) {
    if (errno != EWOULDBLOCK && errno != EINTR) return Error::from_errno("lock " + path);
    pollfd watched{stop, POLLIN, 0};
    (void)::poll(&watched, 1, kLook);
    if (watched.revents != 0) return Error::because("it was told to stop");
  }
  return file;
}

Result<EnvironmentName> look_up(const ObtainOrder& order) {
  std::string json;
  TRY(fetch(order.router, {"/v1/environments", order.token, order.tls, order.stop}, kPatience,
            [&json](std::string_view piece) -> Result<void> {
              json += piece;
              if (json.size() > kLongestList) return Error::because("its list is too long");
              return {};
            }));
  auto all = parse_environments(json);
  if (!all) return std::move(all).error().context(order.router.text());
  std::string known;
  for (EnvironmentName& each : *all) {
    if (each.name == order.name || each.digest == order.name) return std::move(each);
    known += (known.empty() ? "" : ", ") + each.name;
  }
  return Error::because(fmt::format("router {} has no environment \"{}\"{}", order.router.text(),
                                    order.name, known.empty() ? "" : "; it has " + known));
}

// Into a file that has no name yet, or a name that nobody looks for.
Result<void> download(const ObtainOrder& order, const EnvironmentName& about, int file) {
  images::Sha256 sum;
  uint64_t got = 0;
  TRY(fetch(order.router, {"/v1/environments/" + about.digest, order.token, order.tls, order.stop},
            kPatience, [&](std::string_view piece) -> Result<void> {
              sum.add(piece);
              got += piece.size();
              if (got > about.bytes) return Error::because("it is longer than the router said");
              order.progress(got, about.bytes);
              return sys::write_all(file, piece);
            }));
  if ("sha256:" + sum.hex() != about.digest)
    return Error::because(fmt::format("{}: what router {} has sent has another digest", order.name,
                                      order.router.text()));
  if (::fsync(file) < 0) return Error::from_errno("write the environment");
  return {};
}

}  // namespace

Result<std::string> obtain_environment_file(const ObtainOrder& order) {
  const EnvironmentName about = TRY(look_up(order));
  (void)TRY(images::lock_store(order.store));  // makes it, as an image would
  const std::string folder = order.store + "/environments";
  if (::mkdir(folder.c_str(), 0711) < 0 && errno != EEXIST) return Error::from_errno(folder);
  const std::string path =
      fmt::format("{}/{}.tar.zst", folder, about.digest.substr(about.digest.find(':') + 1));
  const OwnedFd lock = TRY(lock_for(path + ".lock", order.stop));
  if (::access(path.c_str(), R_OK) == 0) return path;
  const std::string partial = path + ".partial";  // ours alone, by the lock
  const OwnedFd file(
      ::open(partial.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0644));
  if (!file) return Error::from_errno(partial);
  Result<void> done = download(order, about, file.get());
  if (done && ::rename(partial.c_str(), path.c_str()) < 0) done = Error::from_errno(path);
  if (done) return path;
  (void)::unlink(partial.c_str());
  return std::move(done).error();
}

}  // namespace cluster
