#include "runtime/sessions/capture.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <linux/openat2.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>

#include "runtime/sessions/process_look.h"
#include "runtime/sessions/shared_pages.h"
#include "runtime/sessions/write_tracking.h"

namespace runtime {

using sys::Result;

namespace {

constexpr const char* kTooLarge = "more than the memory for nodes";

bool has_ended(const CaptureOrder& order) {
  pollfd end{order.parent.get(), POLLIN, 0};
  return ::poll(&end, 1, 0) != 0;
}

Result<sys::OwnedFd> open_in_root(int root, const std::string& path) {
  open_how how{};
  how.flags = O_PATH | O_CLOEXEC;
  how.resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS;
  sys::OwnedFd file(static_cast<int>(::syscall(SYS_openat2, root, path.c_str(), &how, sizeof how)));
  if (!file) return sys::Error::from_errno("look at a mapped file");
  return file;
}

// There a file has one number for who opens it and another for who has mapped it
// (Documentation/filesystems/overlayfs.rst).
bool is_layered(int file) {
  struct statfs of {};
  return ::fstatfs(file, &of) == 0 && of.f_type == OVERLAYFS_SUPER_MAGIC;
}

class Capture {
 public:
  Capture(const CaptureOrder& order, const RestingProcess& process)
      : order_(order), process_(process) {}

  // Null: why_not() says it.
  Result<std::shared_ptr<const NodeState>> take() {
    const Stillness before = process_.stillness_at_first();
    if (!before.lacks.empty()) return cannot(before.lacks);
    sees_timers_ = before.sees_timers;
    switches_ = before.switches;
    scratch_ = TRY(look_at_scratch(order_.scratch.get(), order_.bounds));
    if (!scratch_.cannot.empty()) return cannot(scratch_.cannot);
    std::string lost = TRY(process_.stand(scratch_, order_.streams, standing_));
    if (!lost.empty()) return cannot(std::move(lost));
    if (!leaves_descriptors_free()) return cannot("as many open files as it may have");
    if (std::string wrong = TRY(take_memory()); !wrong.empty()) return cannot(std::move(wrong));
    put_scratch();
    put_standing();
    held_ = memory_of(file_.runs, file_.entries);
    if (!file_.has_room_for_names()) return cannot("names that are too long");
    if (order_.bounds.give_up()) return cannot(kTakesTooLong);
    std::shared_ptr<const void> hold = order_.room.reserve(file_.size());
    if (!hold) return cannot(kTooLarge);
    TRY(file_.lay_out());
    if (!TRY(fill())) return cannot(kTakesTooLong);
    is_protected_ =
        may_go_on_ && order_.tracking &&
        protect_pages(order_.tracking->get(), areas_, written_, order_.bounds.give_up).ok();
    const Stillness after = TRY(process_.stillness());
    if (!after.lacks.empty()) return cannot(after.lacks);
    const bool was_alone = order_.jobs().size() == 1 && process_.is_there() && !has_ended(order_);
    if (!was_alone || after.switches != before.switches) return cannot("a process that went on");
    return file_.seal(std::move(hold));
  }
  const std::string& why_not() const { return why_not_; }
  bool may_go_on() const { return may_go_on_; }
  bool is_protected() const { return is_protected_; }
  RestsAs rests_as() const {
    return {.pid = process_.pid(),
            .switches_voluntary = static_cast<int64_t>(switches_.voluntary),
            .switches_forced = static_cast<int64_t>(switches_.forced),
            .cpu_of_children = cpu_of_children_,
            .held = held_};
  }

 private:
  Result<std::shared_ptr<const NodeState>> cannot(std::string what) {
    why_not_ = std::move(what);
    return std::shared_ptr<const NodeState>();
  }

  // What puts them back has some of its own: the first three, its report, and what it has in hand.
  bool leaves_descriptors_free() const {
    constexpr uint64_t kOfOurs = 6;
    return standing_.files.size() + kOfOurs <= order_.most_descriptors;
  }

  // The cell's first process is looked at. An error where it has ended: another may have its
  // number.
  Result<void> look_at_beginning() {
    if (*order_.beginning) return {};
    const RestingProcess parent = TRY(RestingProcess::look_at(order_.forked_from));
    Beginning beginning{TRY(parent.texts()), TRY(parent.areas())};
    if (has_ended(order_)) return sys::Error::because("a process that ended");
    *order_.beginning = std::move(beginning);
    return {};
  }

  Result<std::string> take_memory() {
    TRY(look_at_beginning());
    const auto& [texts_before, before] = **order_.beginning;
    const ProcessTexts texts = TRY(process_.texts());
    const std::optional<uint64_t> heap = start_of_heap(texts.stat);
    if (!heap) return std::string("a heap that cannot be seen");
    if (order_.given && !standing_.has_changed && sees_timers_) {
      may_go_on_ = is_as_forked(texts, texts_before, *order_.given);
      cpu_of_children_ = cpu_of_children(texts.stat);
    }
    const std::vector<AddressArea> now = TRY(process_.areas());
    file_.header.brk = end_of_heap(before, now, *heap, order_.end_of_heap);
    AreaChanges changes = changes_of(before, now, file_.header.brk, order_.request_bytes);
    if (!changes.cannot.empty()) return changes.cannot;
    for (const AreaChange& each : changes.changes) {
      shim::state::Area area{each.begin,  each.end, each.kind, each.protection,
                             each.offset, {},       {},        {}};
      if (each.kind == shim::state::AreaKind::kFile && !TRY(name_file(each, area)))
        return std::string("a mapping of a file that it cannot name");
      file_.areas.push_back(area);
    }
    const uint64_t shared_at_most = order_.from ? order_.from->bytes_of_all() : 0;
    auto own = TRY(process_.own_pages(now, order_.room.most_bytes + shared_at_most));
    if (!own.are_all) return std::string(kTooLarge);
    if (!order_.is_protected) own.unwritten.clear();
    if (order_.tracking) {
      written_ = spans_to_protect(own.runs, own.unwritten);
      areas_ = trackable_areas(before, now);
    }
    file_.runs = std::move(own.runs);
    if (std::string wrong = TRY(share(own.unwritten)); !wrong.empty()) return wrong;
    if (file_.size() > order_.room.most_bytes) return std::string(kTooLarge);
    const bool has_code = std::any_of(file_.runs.begin(), file_.runs.end(), [](const auto& run) {
      return (run.protection & PROT_EXEC) != 0;
    });
    return std::string(has_code ? "code that it has written" : "");
  }

  // Empty, or why it was given up.
  Result<std::string> share(const Runs& unwritten) {
    if (!order_.from) return std::string();
    const Sharing sharing{*order_.from, process_, order_.verifies, order_.bounds.give_up};
    auto shared = share_pages(std::move(file_.runs), unwritten, sharing);
    if (!shared && order_.bounds.give_up()) return std::string(kTakesTooLong);
    SharedPages found = TRY(std::move(shared));
    file_.runs = std::move(found.runs);
    file_.others = std::move(found.files);
    return std::string();
  }

  // A file of the scratch by its place there, as the path is not the same for all who look. False:
  // the file that has this name is another.
  Result<bool> name_file(const AreaChange& change, shim::state::Area& area) {
    const uint64_t device =
        makedev(static_cast<unsigned>(change.device >> 32), static_cast<unsigned>(change.device));
    const auto found = scratch_.path_of.find({device, change.inode});
    area.file = file_.name(found == scratch_.path_of.end() ? change.path : found->second);
    if (found != scratch_.path_of.end()) return true;
    const sys::OwnedFd file = TRY(open_in_root(order_.root.get(), change.path));
    struct stat status {};
    if (::fstat(file.get(), &status) < 0) return sys::Error::from_errno("look at a mapped file");
    area.inode = status.st_ino;
    area.file_bytes = static_cast<uint64_t>(status.st_size);
    return is_layered(file.get()) || status.st_ino == change.inode;
  }

  void put_scratch() {
    for (const ScratchEntry& each : scratch_.entries) {
      shim::state::Entry entry{each.kind, each.mode, each.seconds, each.nanoseconds, {},
                               {},        0,         each.size};
      entry.path = file_.name(each.path);
      entry.target = file_.name(each.target);
      file_.entries.push_back(entry);
    }
  }

  void put_standing() {
    file_.header.umask = standing_.umask;
    file_.header.blocked = standing_.blocked;
    file_.header.directory = file_.name(standing_.directory);
    for (const OpenedFile& each : standing_.files) {
      shim::state::Descriptor descriptor{each.number, each.flags, each.offset, each.same_as, 0, {}};
      descriptor.path = file_.name(each.path);
      file_.descriptors.push_back(descriptor);
    }
  }

  // False: it was given up.
  Result<bool> fill() {
    const std::vector<shim::state::Run> own = file_.own_runs();
    uint64_t at = own.empty() ? 0 : own.front().at;
    bool is_over = false;
    const auto take = [&](std::string_view bytes) -> Result<void> {
      is_over = is_over || order_.bounds.give_up();
      if (is_over) return sys::Error::because(kTakesTooLong);
      TRY(file_.write(at, bytes));
      at += bytes.size();
      return {};
    };
    Result<void> done = process_.read(own, take);
    for (size_t i = 0; done.ok() && i < file_.entries.size(); ++i) {
      at = file_.entries[i].at;
      if (file_.entries[i].size > 0)
        done = read_content(order_.scratch.get(), scratch_.entries[i], take);
    }
    if (!done && !is_over) return std::move(done).error();
    return !is_over;
  }

  const CaptureOrder& order_;
  const RestingProcess& process_;
  NodeFile file_;
  ScratchLook scratch_;
  ProcessStanding standing_;
  std::string why_not_;
  bool sees_timers_ = false, may_go_on_ = false, is_protected_ = false;
  std::vector<AddressArea> areas_;  // where writes can be told of ...
  Runs written_;                    // ... and what of its own is to be protected
  Switches switches_;
  sys::Nanoseconds cpu_of_children_{};
  sys::Bytes held_;
};

// A step has one process now.
Result<RestingProcess> resting_process(const CaptureOrder& order) {
  const std::vector<int> jobs = order.jobs();
  if (jobs.empty()) return sys::Error::because("a process that ended");
  if (jobs.size() > 1) return sys::Error::because("a child process");
  return RestingProcess::look_at(jobs.front(), order.forked_from);
}

Captured not_kept(std::string why) { return {.state = nullptr, .why_not = std::move(why)}; }

}  // namespace

Captured capture(const CaptureOrder& order) {
  Result<RestingProcess> process = resting_process(order);
  if (!process) return not_kept(process.error().text());
  Capture capture(order, *process);
  auto state = capture.take();
  // A step that was to go on may not: the cell's processes may have been given something else
  // since, as other CPUs.
  if (order.given && !capture.may_go_on()) order.beginning->reset();
  if (!state) return not_kept(state.error().text());
  Captured captured{.state = std::move(*state), .why_not = capture.why_not()};
  captured.may_go_on = captured.state && capture.may_go_on();
  captured.rests_as = capture.rests_as();
  captured.is_protected = captured.may_go_on && capture.is_protected();
  return captured;
}

Captured look_at_standby(const CaptureOrder& order) {
  const Result<RestingProcess> process = resting_process(order);
  if (!process) return not_kept(process.error().text());
  const Result<NodeTables> tables = tables_of(*order.from);
  if (!tables) return not_kept(tables.error().text());
  Stillness still = process->stillness_at_first();
  Captured captured{.state = nullptr, .why_not = std::move(still.lacks)};
  captured.may_go_on = captured.why_not.empty();
  captured.rests_as = {.pid = process->pid(),
                       .switches_voluntary = static_cast<int64_t>(still.switches.voluntary),
                       .switches_forced = static_cast<int64_t>(still.switches.forced),
                       .cpu_of_children = {},
                       .held = memory_of(tables->runs, tables->entries)};
  return captured;
}

}  // namespace runtime
