#include "tools/cli/certify/grader/crew.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <filesystem>

#include "sandbox/sys/file.h"

namespace cli {
namespace {

using sys::Result;

constexpr uint64_t kMostProcesses = 512;
constexpr size_t kKept = size_t{64} << 10, kFlood = size_t{64} << 20;

int milliseconds_until(sys::Nanoseconds when) {
  const auto left = std::chrono::ceil<sys::Milliseconds>(when - sys::monotonic_now());
  return static_cast<int>(std::clamp<int64_t>(left.count(), 0, 3'600'000));
}

Result<sys::OwnedFd> as_stdin(const std::string& text) {
  sys::OwnedFd file = TRY(sys::sealed_memfd("case", text));
  ::lseek(file.get(), 0, SEEK_SET);
  return file;
}

}  // namespace

// An output of the grader: its end is kept, all of it is counted.
struct Crew::Ear {
  explicit Ear(sys::OwnedFd reader) : fd(std::move(reader)) {}

  void hear() {
    std::array<char, 65536> bytes;
    for (;;) {
      const ssize_t n = ::read(fd.get(), bytes.data(), bytes.size());
      if (n < 0 && errno == EINTR) continue;
      if (n == 0) fd.reset();
      if (n <= 0) return;
      heard += static_cast<size_t>(n);
      tail.append(bytes.data(), static_cast<size_t>(n));
      if (tail.size() > kKept) tail.erase(0, tail.size() - kKept);
      if (heard > kFlood) return;
    }
  }

  sys::OwnedFd fd;
  std::string tail;
  size_t heard = 0;
};

// A grader at work.
struct Crew::Post {
  const GraderCase* of = nullptr;
  std::string folder;
  std::optional<sandbox::CellCgroup> group;
  sys::Child child;
  Ear out, err, trouble;  // the last one: of ours, no enclosure could be made
  sandbox::Fence fence{};
  sys::Nanoseconds until{};
  bool late = false;

  bool flooded() const { return out.heard > kFlood || err.heard > kFlood; }

  void add_to(std::vector<pollfd>& entries) const {
    for (const int fd : {child.pidfd(), out.fd.get(), err.fd.get()})
      entries.push_back({fd, POLLIN, 0});
  }

  // True when it has ended.
  bool attend() {
    pollfd ended{child.pidfd(), POLLIN, 0};
    const bool over = ::poll(&ended, 1, 0) > 0;
    for (Ear* ear : {&out, &err, &trouble}) {
      if (ear->fd) ear->hear();
    }
    if (!over && sys::monotonic_now() >= until) late = true;
    if (!over && (late || flooded())) sandbox::end_enclosed(child, fence);
    return over;
  }

  GraderEnd conclude() {
    const Result<int> status = child.wait();
    return {.status = status ? *status : 128 + SIGKILL,
            .late = late,
            .flooded = flooded(),
            .out = std::move(out.tail),
            .err = std::move(err.tail)};
  }
};

Crew::Crew(const GraderOptions& options, GraderFence fence, std::string folder)
    : options_(options),
      fence_(std::move(fence)),
      folder_(std::move(folder)),
      groups_(sandbox::CgroupRoot::create()) {
  for (char** each = environ; *each != nullptr; ++each) environment_.emplace_back(*each);
}

std::vector<std::string> Crew::limits() const {
  std::vector<std::string> names;
  if (groups_.layers().has(sandbox::Layer::kCgroupMemory)) names.emplace_back("memory");
  if (groups_.layers().has(sandbox::Layer::kCgroupPids)) names.emplace_back("processes");
  return names;
}

Result<std::optional<sandbox::CellCgroup>> Crew::make_group(const std::string& name) const {
  if (groups_.layers() == sandbox::Layers()) return std::optional<sandbox::CellCgroup>();
  sandbox::CellCgroup group = TRY(sandbox::CellCgroup::create(groups_, name));
  if (group.layers().has(sandbox::Layer::kCgroupMemory))
    TRY(group.set_memory_limit(options_.memory));
  if (group.layers().has(sandbox::Layer::kCgroupPids)) TRY(group.set_pids_limit(kMostProcesses));
  return std::optional<sandbox::CellCgroup>(std::move(group));
}

Result<Crew::Post> Crew::start(const GraderCase& each) {
  const std::string folder = folder_ + "/" + each.id;
  if (::mkdir(folder.c_str(), 0700) < 0) return sys::Error::from_errno("mkdir " + folder);
  std::optional<sandbox::CellCgroup> group = TRY(make_group(each.id));
  sys::Pipe out = TRY(sys::make_pipe()), err = TRY(sys::make_pipe()),
            trouble = TRY(sys::make_pipe());
  for (const sys::Pipe* pipe : {&out, &err, &trouble})
    ::fcntl(pipe->reader.get(), F_SETFL, O_NONBLOCK);
  const std::string text = case_json(each);
  const sys::OwnedFd in = TRY(as_stdin(text));
  sys::Child child = TRY(sandbox::start_enclosed(
      {.fence = fence_.kind,
       .argv = {"/bin/sh", "-c", options_.command + " \"$@\"", "sh", folder + "/given/case.json"},
       .environment = environment_,
       .folder = folder,
       .given = {{"case.json", text}},
       .layered = fence_.layered,
       .in = in.get(),
       .out = out.writer.get(),
       .err = err.writer.get(),
       .trouble = trouble.writer.get(),
       .group = group ? &*group : nullptr}));
  return Post{.of = &each,
              .folder = folder,
              .group = std::move(group),
              .child = std::move(child),
              .out = Ear(std::move(out.reader)),
              .err = Ear(std::move(err.reader)),
              .trouble = Ear(std::move(trouble.reader)),
              .fence = fence_.kind,
              .until = sys::monotonic_now() + options_.timeout};
}

bool Crew::end_all(std::vector<Post>& posts) {
  for (Post& post : posts) {
    sandbox::end_enclosed(post.child, fence_.kind);
    (void)post.child.wait();
  }
  return false;
}

Result<bool> Crew::run(const std::vector<GraderCase>& cases, unsigned workers, int stop,
                       const OnEnd& on_end, const std::function<void()>& on_tick, int patience) {
  std::vector<Post> posts;
  for (size_t next = 0; next < cases.size() || !posts.empty();) {
    while (next < cases.size() && posts.size() < workers)
      posts.push_back(TRY(start(cases[next++])));
    std::vector<pollfd> entries{{stop, POLLIN, 0}};
    int wait = patience < 0 ? 3'600'000 : patience;
    for (const Post& post : posts) {
      post.add_to(entries);
      wait = std::min(wait, milliseconds_until(post.until));
    }
    (void)::poll(entries.data(), entries.size(), wait);
    if (entries[0].revents != 0) return end_all(posts);
    for (Post& post : posts) {
      if (!post.attend()) continue;
      if (!post.trouble.tail.empty())
        return sys::Error::because("the grader could not be enclosed: " + post.trouble.tail);
      on_end(*post.of, post.conclude());
      std::error_code problem;
      std::filesystem::remove_all(post.folder, problem);
      post.of = nullptr;
    }
    std::erase_if(posts, [](const Post& post) { return post.of == nullptr; });
    on_tick();
  }
  return true;
}

}  // namespace cli
