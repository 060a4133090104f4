#include "runtime/sessions/write_tracking.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <csignal>
#include <functional>
#include <string>

#include "runtime/sessions/node_file.h"
#include "runtime/sessions/pagemap.h"
#include "sandbox/sys/file.h"
#include "sandbox/sys/socket.h"
#include "sandbox/sys/userfault.h"

namespace runtime {
namespace {

using shim::state::kPageBytes;
using shim::state::Run;

constexpr size_t kPages = 16;

char* fresh_pages(int of_file = -1) {
  const int flags = MAP_PRIVATE | (of_file < 0 ? MAP_ANONYMOUS : 0);
  void* at = ::mmap(nullptr, kPages * kPageBytes, PROT_READ | PROT_WRITE, flags, of_file, 0);
  return static_cast<char*>(at);
}

// A process with pages of its own, which stops before each of its turns.
class Writer {
 public:
  using Turn = std::function<void(char* pages)>;
  explicit Writer(const std::vector<Turn>& turns, int of_file = -1) : pages_(fresh_pages(of_file)) {
    sys::SocketPair pair = std::move(sys::seqpacket_pair()).value();
    pid_ = ::fork();
    if (pid_ == 0) live(turns, pair.theirs.get());
    pair.theirs.reset();
    char byte = 0;
    auto received = sys::receive_message(pair.ours.get(), sys::writable_bytes_of(byte));
    REQUIRE(received);
    if (!received->fds.empty()) tracking_ = std::move(received->fds.front());
    await_stop();
  }
  Writer(const Writer&) = delete;
  ~Writer() {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
    ::munmap(pages_, kPages * kPageBytes);
  }

  bool is_tracked() const { return bool(tracking_); }
  void take_turn() {
    ::kill(pid_, SIGCONT);
    await_stop();
  }
  std::vector<AddressArea> areas() const {
    const std::string maps = "/proc/" + std::to_string(pid_) + "/maps";
    return parse_maps(sys::read_file(maps, size_t{1} << 20).value()).value();
  }
  // Its own pages in [at, at + kPages): "w" for each that is told to be written to, "." for others
  // that are protected, " " for those that it has not.
  std::string told(const char* at) const {
    std::string marks(kPages, ' ');
    const sys::OwnedFd pagemap(
        ::open(("/proc/" + std::to_string(pid_) + "/pagemap").c_str(), O_RDONLY | O_CLOEXEC));
    const auto first = reinterpret_cast<uint64_t>(at);
    REQUIRE(PageScan(pagemap.get())
                .find_own(areas(), [&](uint64_t begin, uint64_t end, bool is_unwritten) {
                  for (uint64_t page = begin; page < end; page += kPageBytes) {
                    if (page >= first && page < first + kPages * kPageBytes)
                      marks[(page - first) / kPageBytes] = is_unwritten ? '.' : 'w';
                  }
                  return true;
                }));
    return marks;
  }
  // Protects the pages there that are told to be written to.
  sys::Result<void> protect(
      const char* at, const std::function<bool()>& give_up = [] { return false; }) const {
    const std::string marks = told(at);
    Runs runs;
    for (size_t page = 0; page < kPages; ++page) {
      if (marks[page] == 'w')
        runs.push_back(Run{reinterpret_cast<uint64_t>(at) + page * kPageBytes, 1, 0, 3, 0});
    }
    return protect_pages(tracking_.get(), areas(), joined(runs), give_up);
  }
  sys::Result<void> protect_node(const NodeState& node,
                                 const std::function<bool()>& give_up) const {
    return protect_node_pages(tracking_.get(), pid_, node, give_up);
  }
  char* pages() const { return pages_; }

 private:
  [[noreturn]] void live(const std::vector<Turn>& turns, int socket) const {
    const sys::OwnedFd tracking(sys::open_write_tracking());
    const char byte = 0;
    const int fd = tracking.get();
    (void)sys::send_message(socket, sys::bytes_of(byte), {&fd, tracking ? size_t{1} : 0});
    for (const Turn& turn : turns) {
      ::raise(SIGSTOP);
      turn(pages_);
    }
    ::raise(SIGSTOP);
    ::_exit(0);
  }
  void await_stop() const {
    int status = 0;
    REQUIRE(::waitpid(pid_, &status, WUNTRACED) == pid_);
    REQUIRE(WIFSTOPPED(status));
  }

  char* const pages_;
  pid_t pid_ = -1;
  sys::OwnedFd tracking_;
};

void write_to(char* pages, std::initializer_list<size_t> which) {
  for (const size_t page : which) {
    volatile char* at = pages + page * kPageBytes;
    *at = 'x';
  }
}

bool is_missing(const Writer& writer) {
  if (writer.is_tracked()) return false;
  WARN("skipped: this kernel does not tell what is written to (userfaultfd, WP_ASYNC)");
  return true;
}

}  // namespace

TEST_CASE("tracking: what is written to is told, and nothing else", "[pages]") {
  Writer writer({[](char* pages) {
                   write_to(pages, {0, 1, 2, 3, 9});
                 },
                 [](char* pages) {
                   write_to(pages, {2, 5});
                 },
                 [](char* pages) { (void)*const_cast<volatile char*>(pages); },
                 [](char* pages) { write_to(pages, {0}); }});
  if (is_missing(writer)) return;
  writer.take_turn();
  CHECK(writer.told(writer.pages()) == "wwww     w      ");
  REQUIRE(writer.protect(writer.pages()));
  CHECK(writer.told(writer.pages()) == "....     .      ");
  writer.take_turn();
  CHECK(writer.told(writer.pages()) == "..w. w   .      ");
  writer.take_turn();
  CHECK(writer.told(writer.pages()) == "..w. w   .      ");
  REQUIRE(writer.protect(writer.pages()));
  writer.take_turn();
  CHECK(writer.told(writer.pages()) == "w... .   .      ");
}

TEST_CASE("tracking: pages that the kernel writes to, and that are given back, are told",
          "[pages]") {
  Writer writer({[](char* pages) {
                   write_to(pages, {0, 1, 2, 3});
                 },
                 [](char* pages) {
                   const sys::OwnedFd zeros(::open("/dev/zero", O_RDONLY | O_CLOEXEC));
                   (void)!::read(zeros.get(), pages, 10);
                   ::madvise(pages + kPageBytes, 2 * kPageBytes, MADV_DONTNEED);
                   write_to(pages, {2});
                 }});
  if (is_missing(writer)) return;
  writer.take_turn();
  REQUIRE(writer.protect(writer.pages()));
  writer.take_turn();
  CHECK(writer.told(writer.pages()) == "w w.            ");
}

TEST_CASE("tracking: a page of a file's area that is given back is not as it was", "[pages]") {
  const sys::OwnedFd file(::memfd_create("pages", MFD_CLOEXEC));
  REQUIRE(::ftruncate(file.get(), kPages * kPageBytes) == 0);
  Writer writer({[](char* pages) {
                   write_to(pages, {0, 1, 2, 3});
                 },
                 [](char* pages) {
                   ::madvise(pages, 3 * kPageBytes, MADV_DONTNEED);
                   (void)*const_cast<volatile char*>(pages + kPageBytes);
                   write_to(pages, {2});
                 }},
                file.get());
  if (is_missing(writer)) return;
  writer.take_turn();
  REQUIRE(writer.protect(writer.pages()));
  CHECK(writer.told(writer.pages()) == "....            ");
  writer.take_turn();
  const std::string told = writer.told(writer.pages());
  CHECK(told.substr(0, 3).find('.') == std::string::npos);
  CHECK(told[1] == ' ');
  CHECK(told[2] == 'w');
  CHECK(told[3] == '.');
}

// A page that is moved keeps the mark of its protection on some kernels, and can be written to.
TEST_CASE("tracking: moved pages and new areas are not tracked until they are protected",
          "[pages]") {
  static char* const other = fresh_pages();
  Writer writer({[](char* pages) {
                   write_to(pages, {0, 1, 2, 3});
                 },
                 [](char* pages) {
                   ::mremap(pages, 2 * kPageBytes, 2 * kPageBytes, MREMAP_MAYMOVE | MREMAP_FIXED,
                            other);
                   write_to(other, {0});
                 },
                 [](char*) {
                   write_to(other, {0, 1});
                 },
                 [](char* pages) {
                   ::mremap(other, kPageBytes, kPageBytes, MREMAP_MAYMOVE | MREMAP_FIXED, pages);
                 },
                 [](char* pages) { write_to(pages, {0}); }});
  if (is_missing(writer)) return;
  writer.take_turn();
  REQUIRE(writer.protect(writer.pages()));
  writer.take_turn();
  CHECK(writer.told(other) == "ww              ");
  CHECK(writer.told(writer.pages()) == "  ..            ");
  REQUIRE(writer.protect(other));
  CHECK(writer.told(other) == "..              ");
  writer.take_turn();
  CHECK(writer.told(other) == "ww              ");
  REQUIRE(writer.protect(other));
  writer.take_turn();
  CHECK(writer.told(writer.pages()).front() == 'w');
  REQUIRE(writer.protect(writer.pages()));
  writer.take_turn();
  CHECK(writer.told(writer.pages()).front() == 'w');
}

TEST_CASE("tracking: a node that has been put back is protected, but for its files", "[pages]") {
  const sys::OwnedFd memory(::memfd_create("pages", MFD_CLOEXEC));
  REQUIRE(::ftruncate(memory.get(), kPages * kPageBytes) == 0);
  const auto put_back = [](char* pages) { write_to(pages, {0, 1, 2, 6, 7}); };
  for (const int of_file : {-1, memory.get()}) {
    Writer writer({put_back, [](char* pages) { write_to(pages, {1, 9}); }}, of_file);
    if (is_missing(writer)) return;
    const auto at = reinterpret_cast<uint64_t>(writer.pages());
    NodeFile file;
    file.areas = {{.begin = at, .end = at + kPages * kPageBytes}};
    file.areas.front().kind =
        of_file < 0 ? shim::state::AreaKind::kAnonymous : shim::state::AreaKind::kFile;
    file.runs = {Run{at, 1, 0, 3, 0}, Run{at + kPageBytes, 2, 0, 3, 0},
                 Run{at + 6 * kPageBytes, 1, 0, 3, 0}};
    REQUIRE(file.lay_out());
    const auto node = std::move(file.seal(nullptr)).value();
    writer.take_turn();
    REQUIRE(writer.protect_node(*node, [] { return false; }));
    CHECK(writer.told(writer.pages()) == (of_file < 0 ? "...   .w        " : "www   ww        "));
    writer.take_turn();
    CHECK(writer.told(writer.pages()) == (of_file < 0 ? ".w.   .w w      " : "www   ww w      "));
    if (of_file < 0) CHECK_FALSE(writer.protect_node(*node, [] { return true; }));
  }
}

TEST_CASE("tracking: pages to protect lie in few spans, all of them own", "[pages]") {
  const auto pages = [](uint64_t first, uint64_t count) {
    return Run{first * kPageBytes, count, 0, 3, 0};
  };
  const auto spans = [](const Runs& own, const Runs& unwritten) {
    std::string text;
    for (const Run& span : spans_to_protect(own, unwritten))
      text += std::to_string(span.begin / kPageBytes) + "+" + std::to_string(span.pages) + " ";
    return text;
  };
  CHECK(spans({}, {}).empty());
  CHECK(spans({pages(10, 20)}, {pages(10, 20)}).empty());
  CHECK(spans({pages(10, 20)}, {}) == "10+20 ");
  CHECK(spans({pages(10, 20)}, {pages(10, 2), pages(13, 4), pages(18, 12)}) == "12+6 ");
  CHECK(spans({pages(10, 200)}, {pages(11, 64), pages(76, 65)}) == "10+66 141+69 ");
  CHECK(spans({pages(10, 5), pages(16, 5)}, {pages(12, 1)}) == "10+5 16+5 ");
  CHECK(spans({pages(10, 5), pages(15, 5)}, {pages(12, 1), pages(14, 2)}) == "10+4 16+4 ");
}

TEST_CASE("tracking: pages elsewhere are left as they are", "[pages]") {
  const AddressArea area{.begin = 7 * kPageBytes, .end = 9 * kPageBytes};
  const Run before{5 * kPageBytes, 2, 0, 3, 0}, in{8 * kPageBytes, 4, 0, 3, 0},
      behind{9 * kPageBytes, 1, 0, 3, 0};
  const auto never = [] { return false; };
  CHECK(protect_pages(-1, {area}, {before, behind}, never));
  CHECK(protect_pages(-1, {}, {in}, never));
  CHECK(protect_pages(-1, {area}, {before, in}, never).error().code() == EBADF);
}

TEST_CASE("tracking: it is given up in between", "[pages]") {
  Writer writer({[](char* pages) { write_to(pages, {0, 2, 4, 6, 7, 9}); }});
  if (is_missing(writer)) return;
  writer.take_turn();
  int asked = 0;
  const auto soon = [&asked] { return ++asked > 1; };
  REQUIRE_FALSE(writer.protect(writer.pages(), soon));
  CHECK(asked == 2);
  CHECK(writer.told(writer.pages()) == ". . . .. w      ");
}

}  // namespace runtime
