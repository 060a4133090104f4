#include "shim/borrow/holder.h"

#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <new>
#include <utility>

#include "sandbox/sys/fd.h"
#include "sandbox/sys/userfault.h"
#include "shim/borrow/address_space.h"
#include "shim/borrow/holder_process.h"

namespace shim::borrow {
namespace {

// The holder's pid: away from those that a job and its threads have.
constexpr const char* kBeforeHolder = "29999";

bool make_pipe(int reader, int writer) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) < 0) return false;
  const bool placed = place(ends[0], reader);
  return place(ends[1], writer) && placed;
}

// What is shared with a holder, and opened with it. A job that is forked must find none of it.
void give_up(void* vault, void* desk, void* room) {
  ::munmap(vault, kVaultBytes);  // EINVAL where it was not mapped
  ::munmap(desk, sizeof(Desk));
  ::munmap(room, sizeof(Holder));
  for (int fd : {kFdHolderPagemap, kFdHolderMaps, kFdHolderAreas, kFdHolderMemory, kFdHolderPeak,
                 kFdTracking, kFdWake, kFdWakeWriter, kFdParked, kFdParkedWriter, kFdListener})
    ::close(fd);
}

// This process's first child but `other`, by kFdOffspring; 0: there is none.
pid_t child(pid_t other) {
  char text[64];
  const ssize_t size = ::pread(kFdOffspring, text, sizeof text, 0);
  const char* end = text + std::max<ssize_t>(size, 0);
  for (const char* at = text; at < end;) {
    pid_t pid = 0;
    const auto [behind, error] = std::from_chars(at, end, pid);
    if (error != std::errc()) return 0;
    if (pid != other) return pid;
    at = behind + 1;  // a space follows each
  }
  return 0;
}

void* map_room(size_t bytes) {
  return ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
                -1, 0);
}

bool can_track() {
  const sys::OwnedFd tracking(sys::open_write_tracking());
  return static_cast<bool>(tracking);
}

bool has_clone3() { return ::syscall(SYS_clone3, nullptr, 0) >= 0 || errno != ENOSYS; }

}  // namespace

Holder::Holder(const Cell& cell)
    : chooses_pids_(cell.reach == Reach::kNamespace),
      tracks_(can_track()),
      counts_residence_(!cell.layers.has(sandbox::Layer::kCgroupMemory)) {
  const auto thread_id = reinterpret_cast<uintptr_t>(cell.tid_address);
  constexpr uint64_t kFlags = CLONE_VM | CLONE_PARENT | CLONE_CHILD_SETTID | CLONE_CHILD_CLEARTID;
  program_.job_pid = kJobPid;
  program_.clone_flags = kFlags | SIGCHLD;
  // Where it is not used it would fail (EINVAL), whoever tried it.
  program_.clone = {.flags = chooses_pids_ ? kFlags : ~uint64_t{0},
                    .thread_id = thread_id,
                    .pids = kVaultAddress + offsetof(Program, job_pid),
                    .pid_count = 1};
}

Holder* Holder::make(const Cell& cell, Confine confine, void* context) {
  if (cell.reach == Reach::kNamespace && !has_clone3()) return nullptr;  // a filter around us
  const sys::OwnedFd vault_file(
      static_cast<int>(::syscall(SYS_memfd_create, "zygo-vault", MFD_CLOEXEC)));
  if (!vault_file || ::ftruncate(vault_file.get(), kVaultBytes) < 0) return nullptr;
  void* vault = ::mmap(reinterpret_cast<void*>(kVaultAddress), kVaultBytes, PROT_READ | PROT_WRITE,
                       MAP_SHARED | MAP_FIXED_NOREPLACE, vault_file.get(), 0);
  void* desk =
      ::mmap(nullptr, sizeof(Desk), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  void* room = map_room(sizeof(Holder));
  if (vault == MAP_FAILED || desk == MAP_FAILED || room == MAP_FAILED) {
    give_up(vault, desk, room);
    return nullptr;
  }
  Holder* holder = new (room) Holder(cell);
  holder->vault_ = static_cast<char*>(vault);
  holder->desk_ = new (desk) Desk;
  const HolderPlan plan{cell,     holder->vault_, vault_file.get(), holder->desk_, holder->tracks_,
                        getpid(), confine,        context};
  if (make_pipe(kFdWake, kFdWakeWriter) && make_pipe(kFdParked, kFdParkedWriter) &&
      holder->fork(plan) && holder->await_parked() && holder->read_layout() &&
      holder->save_first_state() && holder->take_room(vault_file.get()) &&
      (!cell.verifies_rollback || holder->note_areas()))
    return holder;
  holder->end();
  give_up(vault, desk, room);
  return nullptr;
}

// It shares the descriptor table with pid 1, so both see what the other opens.
bool Holder::fork(const HolderPlan& plan) {
  if (chooses_pids_) (void)!::pwrite(kFdLastPid, kBeforeHolder, std::strlen(kBeforeHolder), 0);
  (void)!::write(kFdOomScore, "1000", 4);  // the job inherits it
  pid_ = static_cast<pid_t>(::syscall(SYS_clone, CLONE_FILES | SIGCHLD | CLONE_CHILD_SETTID,
                                      nullptr, nullptr, plan.cell.tid_address, nullptr));
  if (pid_ == 0) be_holder(plan);
  (void)!::write(kFdOomScore, "0", 1);
  brk_ = static_cast<uintptr_t>(::syscall(SYS_brk, 0));
  if (!chooses_pids_) return pid_ > 0 && child(0) == pid_ && child(pid_) == 0;
  return pid_ > kJobPid;  // or the kernel does not let us choose
}

pid_t Holder::job() const { return chooses_pids_ ? kJobPid : child(pid_); }

void Holder::end() {
  if (pid_ <= 0) return;
  ::kill(pid_, SIGKILL);
  ::waitpid(pid_, nullptr, __WALL);
}

// The holder's word, or its end.
bool Holder::await_parked() {
  pollfd events[2] = {{kFdParked, POLLIN, 0}, {kFdChildren, POLLIN, 0}};
  for (;;) {
    if (::poll(events, 2, -1) < 0) continue;
    char word;
    if (events[0].revents & POLLIN) return ::read(kFdParked, &word, 1) == 1;
    signalfd_siginfo words;
    while (::read(kFdChildren, &words, sizeof words) > 0) {
    }
    siginfo_t end{};
    if (::waitid(P_PID, static_cast<id_t>(pid_), &end, WEXITED | WNOHANG | WNOWAIT) < 0 ||
        end.si_pid)
      return false;
  }
}

// The part of the program that is the same after every job. The break comes first: brk(2) changes
// nothing where the area above it is not there any more.
void Holder::begin_program() {
  calls_ = 0;
  add({SYS_brk, static_cast<long>(brk_), 0, 0, static_cast<long>(brk_)});
  for (size_t i = 0; i < gaps_; ++i) {
    const Range& gap = gap_[i];
    add({SYS_munmap, static_cast<long>(gap.begin), static_cast<long>(gap.end - gap.begin), 0, 0});
  }
}

void Holder::add(const Call& call) {
  std::memcpy(vault_ + kFirstEntry + calls_ * sizeof call, &call, sizeof call);
  ++calls_;
}

void Holder::end_program() {
  char* at = vault_ + kFirstEntry + calls_ * sizeof(Call);
  for (const Kept& kept : kept_) {
    const Copy copy{kept.page, reinterpret_cast<uintptr_t>(kept.first), kept.is_warm};
    std::memcpy(at, &copy, sizeof copy);
    at += sizeof copy;
  }
  write_head(calls_, kept_.size(), Then::kPark);
}

void Holder::write_head(size_t calls, size_t copies, Then then) {
  program_.calls = calls;
  program_.copies = copies;
  program_.then = static_cast<uint64_t>(then);
  std::memcpy(vault_, &program_, sizeof program_);
}

bool Holder::has_room_for_call() const {
  return kFirstEntry + (calls_ + 1) * sizeof(Call) + kMostKept * sizeof(Copy) <= kProgramBytes;
}

// Protected first: a page of a file keeps its protection when it is dropped.
bool Holder::drop(Range pages) {
  if (pages.begin == pages.end) return true;
  if (!has_room_for_call()) return false;
  if (tracks_ && !sys::protect_pages(kFdTracking, pages.begin, pages.end)) return false;
  add({SYS_madvise, static_cast<long>(pages.begin), static_cast<long>(pages.end - pages.begin),
       MADV_DONTNEED, 0});
  return true;
}

// Pages that job after job writes to are kept from the next time on: copying a page
// back costs a tenth of the fault that a dropped one costs the next job.
void Holder::note_dropped(uintptr_t page) {
  if (dropped_.note(page) && kept_.size() + warm_ < most_kept_) warm_pages_[warm_++] = page;
}

// A page that was dropped has its first content, which no job can change: a file's, or zeros. Those
// of a file are compared with it: another of the same name would be a page that is never put back.
bool Holder::keep_warm() {
  const size_t dropped = std::exchange(warm_, 0);
  size_t fresh = 0;
  for (size_t i = 0; i < dropped; ++i) {
    const uintptr_t page = warm_pages_[i];
    const char* first = first_content_of(page);
    char now[kPageBytes];
    if (!first || !read_page(page, now) || std::memcmp(now, first, kPageBytes) != 0) continue;
    kept_.add({page, first, true});
    warm_pages_[fresh++] = page;
  }
  return fresh == 0 || make_present(warm_pages_, fresh);
}

// So that no job is charged for a page that is kept, and every one finds as many.
bool Holder::make_present(const uintptr_t* pages, size_t count) {
  calls_ = 0;
  for (size_t i = 0; i < count; ++i)
    add({SYS_madvise, static_cast<long>(pages[i]), kPageBytes, MADV_POPULATE_WRITE, 0});
  write_head(calls_, 0, Then::kPark);
  return restore_now();
}

bool Holder::drop_written(const Region& region) {
  Range run{0, 0};
  for (uintptr_t page = region.begin; page < region.end; page += kPageBytes) {
    if (kept_.find(page)) continue;
    note_dropped(page);
    if (run.end != page) {
      if (!drop(run)) return false;
      run.begin = page;
    }
    run.end = page + kPageBytes;
  }
  return drop(run);
}

bool Holder::drop_written() { return tracks_ ? drop_noticed() : drop_own(); }

bool Holder::drop_own() {
  for (size_t i = 0; i < areas_; ++i) {
    const long found = find_own(kFdHolderPagemap, Pages::kSwappedToo, area_[i].begin, area_[i].end,
                                regions_, kMostRegions);
    if (found < 0) return false;
    for (long r = 0; r < found; ++r) {
      if (!drop_written(regions_[r])) return false;
    }
  }
  return true;
}

bool Holder::drop_noticed() {
  for (uintptr_t from = 0, began = 0; from < end_of_addresses(); began = from) {
    const long found = find_written(kFdHolderPagemap, from, regions_, kMostRegions);
    if (found < 0 || from <= began) return false;
    for (long r = 0; r < found; ++r) {
      if (!drop_written(regions_[r])) return false;
    }
  }
  return true;
}

bool Holder::drop_everything() {
  begin_program();
  for (size_t i = 0; i < areas_; ++i) {
    if (!drop(area_[i])) return false;
  }
  return true;
}

bool Holder::roll_back(long faults) {
  begin_program();
  // Without a page fault, pages that are kept are all that can have been written to. What was
  // written to in too many places for the list goes as a whole.
  if (faults > 0 && !drop_written() && !drop_everything()) return false;
  end_program();
  std::memset(static_cast<void*>(desk_), 0, kPageBytes);
  if (!restore_now()) return false;
  unused_warm_ = std::exchange(desk_->unchanged, 0);
  return keep_warm();
}

// The list is wiped: it would tell the next job where this one has written.
bool Holder::restore_now() {
  if (::write(kFdWakeWriter, "r", 1) != 1 || !await_parked()) return false;
  std::memset(vault_ + kFirstEntry, 0, calls_ * sizeof(Call) + kept_.size() * sizeof(Copy));
  write_head(0, 0, chooses_pids_ ? Then::kClone3 : Then::kClone);
  return true;
}

void Holder::start(const JobOrder& order, const JobFds& fds) {
  desk_->order = order;
  desk_->fds = fds;
  if (chooses_pids_) (void)!::pwrite(kFdLastPid, "1", 1, 0);
  (void)!::write(kFdHolderPeak, "5", 1);
  (void)!::write(kFdWakeWriter, "j", 1);
}

}  // namespace shim::borrow
