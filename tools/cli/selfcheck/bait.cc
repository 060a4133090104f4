#include "tools/cli/selfcheck/bait.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <utility>

#include "sandbox/sys/file.h"

namespace cli {
namespace {

using sys::Error;
using sys::OwnedFd;
using sys::Result;

constexpr const char* kVariable = "ZYGO_SELFCHECK_SECRET";
constexpr std::string_view kContent = "anybody may write here\n";

std::string random_hex(size_t bytes) {
  std::string raw(bytes, '\0'), hex;
  VERIFY(::getrandom(raw.data(), raw.size(), 0) == static_cast<ssize_t>(raw.size()));
  for (char c : raw) {
    constexpr char kDigits[] = "0123456789abcdef";
    hex += kDigits[static_cast<unsigned char>(c) >> 4];
    hex += kDigits[c & 15];
  }
  return hex;
}

// The bait is not in /tmp: cells have a scratch of their own there, which would hide the bait for
// that reason alone.
std::string where_to_lay() {
  for (const char* place : {"/var/tmp", "/dev/shm"}) {
    if (::access(place, W_OK) == 0) return place;
  }
  return "/tmp";
}

Result<void> write_file(const std::string& path, std::string_view content, mode_t mode) {
  OwnedFd file = TRY(sys::open(path, O_WRONLY | O_CREAT | O_EXCL, mode));
  TRY(sys::write_all(file.get(), content));
  if (::fchmod(file.get(), mode) < 0) return Error::from_errno("chmod " + path);
  return {};
}

Result<OwnedFd> bound(int family, int type, const sockaddr* address, socklen_t size) {
  OwnedFd made(::socket(family, type | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!made) return Error::from_errno("socket");
  if (::bind(made.get(), address, size) < 0) return Error::from_errno("bind");
  if (type == SOCK_STREAM && ::listen(made.get(), 8) < 0) return Error::from_errno("listen");
  return made;
}

Result<OwnedFd> bound_to_path(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path, path.data(), std::min(path.size(), sizeof address.sun_path));
  auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + path.size());
  return bound(AF_UNIX, SOCK_STREAM, reinterpret_cast<const sockaddr*>(&address), size);
}

}  // namespace

Result<Bait> Bait::lay() {
  Bait bait;
  bait.token_ = random_hex(4);
  bait.secret_ = "canary-" + random_hex(16);
  bait.abstract_ = "zygo-selfcheck-" + bait.token_;
  TRY(bait.make_files());
  TRY(bait.listen());
  ::setenv(kVariable, bait.secret_.c_str(), 1);
  bait.key_ =
      static_cast<int>(0x5b000000u | (std::strtoul(bait.token_.c_str(), nullptr, 16) & 0xfffffeu));
  bait.objects_ = TRY(Objects::make(bait.key_));
  TRY(bait.start_victim());
  return bait;
}

Bait::Bait(Bait&& other) noexcept
    : folder_(std::exchange(other.folder_, "")),
      secret_(std::move(other.secret_)),
      token_(std::move(other.token_)),
      abstract_(std::move(other.abstract_)),
      victim_(std::exchange(other.victim_, kNobody)),
      secret_in_memory_(other.secret_in_memory_),
      tcp_(std::move(other.tcp_)),
      udp_(std::move(other.udp_)),
      unix_(std::move(other.unix_)),
      abstract_listener_(std::move(other.abstract_listener_)),
      left_open_(std::exchange(other.left_open_, -1)),
      port_(other.port_),
      key_(other.key_),
      objects_(std::move(other.objects_)) {}

Bait::~Bait() {
  OwnedFd left(left_open_);
  if (!folder_.empty()) end_victim();
  std::error_code nobody_to_tell;
  if (!folder_.empty()) std::filesystem::remove_all(folder_, nobody_to_tell);
}

void Bait::end_victim() {
  if (victim_ == kNobody) return;
  ::kill(victim_, SIGKILL);  // not reaped yet, so the pid is still the victim's
  while (::waitpid(victim_, nullptr, 0) < 0 && errno == EINTR) {
  }
  victim_ = kNobody;
}

Result<void> Bait::make_files() {
  std::string name = where_to_lay() + "/zygo-selfcheck-XXXXXX";
  if (!::mkdtemp(name.data())) return Error::from_errno("mkdtemp " + name);
  folder_ = name;
  if (::chmod(folder_.c_str(), 0755) < 0) return Error::from_errno("chmod " + folder_);
  TRY(write_file(folder_ + "/canary", secret_ + "\n", 0644));
  std::string open = folder_ + "/open";
  if (::mkdir(open.c_str(), 0777) < 0 || ::chmod(open.c_str(), 0777) < 0) {
    return Error::from_errno("mkdir " + open);
  }
  TRY(write_file(open + "/file", kContent, 0666));
  // Left open across exec on purpose, away from the numbers in use.
  OwnedFd canary = TRY(sys::open(folder_ + "/canary", O_RDONLY));
  left_open_ = ::fcntl(canary.get(), F_DUPFD, 200);
  if (left_open_ < 0) return Error::from_errno("leave a descriptor open");
  return {};
}

Result<void> Bait::listen() {
  sockaddr_in loopback{};
  loopback.sin_family = AF_INET;
  loopback.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  auto* address = reinterpret_cast<sockaddr*>(&loopback);
  socklen_t size = sizeof loopback;
  tcp_ = TRY(bound(AF_INET, SOCK_STREAM, address, size));
  if (::getsockname(tcp_.get(), address, &size) < 0) return Error::from_errno("getsockname");
  port_ = ntohs(loopback.sin_port);
  if (auto made = bound(AF_INET, SOCK_DGRAM, address, size); made) udp_ = std::move(*made);
  unix_ = TRY(bound_to_path(folder_ + "/open/socket"));
  if (::chmod((folder_ + "/open/socket").c_str(), 0777) < 0) return Error::from_errno("chmod");
  abstract_listener_ = TRY(bound_to_path(std::string(1, '\0') + abstract_));
  return {};
}

// A process of ours that holds the secret and does nothing.
Result<void> Bait::start_victim() {
  // The buffer is this process's own, for the address must be the same in the victim.
  static std::array<char, 64> held{};
  std::memcpy(held.data(), secret_.data(), std::min(secret_.size(), held.size() - 1));
  secret_in_memory_ = held.data();
  const pid_t parent = ::getpid();
  const pid_t pid = ::fork();
  if (pid < 0) return Error::from_errno("fork");
  if (pid > 0) {
    victim_ = pid;
    return {};
  }
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  ::prctl(PR_SET_DUMPABLE, 1);
  if (::getppid() != parent) ::_exit(1);
  // Ignored by everybody else, so that an attempt can send it to all.
  ::signal(SIGWINCH, [](int) { ::_exit(1); });
  // A Ctrl-C of the whole group is for zygo to answer.
  for (int ignored : {SIGINT, SIGTERM, SIGHUP}) ::signal(ignored, SIG_IGN);
  for (;;) ::pause();
}

std::string Bait::facts() const {
  nlohmann::json facts = {{"canary", folder_ + "/canary"},
                          {"open_folder", folder_ + "/open"},
                          {"open_file", folder_ + "/open/file"},
                          {"socket", folder_ + "/open/socket"},
                          {"abstract", abstract_},
                          {"port", port_},
                          {"variable", kVariable},
                          {"daemon", ::getpid()},
                          {"victim", victim_},
                          {"address", reinterpret_cast<uintptr_t>(secret_in_memory_)},
                          {"key", key_},
                          {"segment", objects_.segment()},
                          {"token", token_}};
  return facts.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

// Files that an attempt made; they are removed.
std::string Bait::take_escaped_files() const {
  std::string found;
  for (const char* folder : {"/usr", "/etc", "/usr/lib/python3", "/var/tmp", "/", "/dev"}) {
    std::string path = std::string(folder) + "/zygo-escaped-" + token_;
    if (::unlink(path.c_str()) == 0) found = path + " was made on the host";
  }
  std::error_code problem;
  for (const auto& each : std::filesystem::directory_iterator(folder_ + "/open", problem)) {
    std::string name = each.path().filename();
    if (name == "file" || name == "socket") continue;
    found = "a folder of the host got a file: " + name;
    std::filesystem::remove_all(each.path(), problem);
  }
  return found;
}

bool Bait::is_file_as_made() const {
  const std::string path = folder_ + "/open/file";
  struct stat about {};
  sys::Result<std::string> content = sys::read_file(path);
  return content && *content == kContent && ::stat(path.c_str(), &about) == 0 &&
         (about.st_mode & 0777) == 0666 && about.st_mtim.tv_sec != 1;
}

// Connections and datagrams, which are taken.
bool Bait::take_visits() const {
  bool any = false;
  for (const OwnedFd* listener : {&tcp_, &unix_, &abstract_listener_}) {
    for (;;) {
      OwnedFd visitor(::accept4(listener->get(), nullptr, nullptr, SOCK_CLOEXEC));
      if (!visitor) break;
      any = true;
    }
  }
  char byte = 0;
  while (udp_ && ::recv(udp_.get(), &byte, 1, MSG_DONTWAIT) >= 0) any = true;
  return any;
}

bool Bait::is_victim_hurt() {
  siginfo_t about{};
  if (::waitid(P_PID, static_cast<id_t>(victim_), &about, WEXITED | WSTOPPED | WNOHANG | WNOWAIT) <
          0 ||
      about.si_pid == 0) {
    return false;
  }
  end_victim();
  return true;
}

std::string Bait::take_damage() {
  std::string damage = take_escaped_files();
  if (!is_file_as_made()) {
    damage = "a file of the host was changed";
    ::unlink((folder_ + "/open/file").c_str());
    if (!write_file(folder_ + "/open/file", kContent, 0666)) damage += ", for good";
  }
  if (take_visits()) damage = "a listener of the host was reached";
  if (objects_.take_strangers()) damage = "System V objects were made on the host";
  if (is_victim_hurt()) {
    damage = "a process of the host was killed or stopped";
    if (!start_victim()) damage += ", and there is no other";
  }
  return damage;
}

}  // namespace cli
