#pragma once
// Jobs without a fork of the memory. A *holder* is a child of a cell's pid 1 that owns a copy of
// the template's address space; a job is a process of its own that borrows this address space
// (clone(2), CLONE_VM), and afterwards pid 1 has it rolled back to what it was. Descriptors,
// credentials, signal actions, timers, limits, Landlock and the working directory are the job's own
// and end with it, as after a fork.
//
// These keep one job's traces from the next (SECURITY.md, "Borrowed memory"):
//   - all areas of the address space are sealed (mseal(2), Linux 6.10), so none can be unmapped,
//     moved, protected in another way or mapped over;
//   - what a job maps lies between them, and is unmapped;
//   - pages that were written to are found by asynchronous write protection (userfaultfd(2),
//     UFFD_FEATURE_WP_ASYNC; PAGEMAP_SCAN, Linux 6.7) and are dropped or copied back. Where
//     userfaultfd is refused, all pages are looked at that are no file's: the image is a file, so
//     these are the ones that are kept, and those that the job has written to;
//   - the filter refuses what changes an address space in other ways (`borrows_memory` in
//     sandbox/seccomp/profiles), and new processes, so that none can be left in it;
//   - the holder makes the system calls that pid 1 has written down, and copies (parked.h).
// Holder is pid 1's side of it; the holder's own is holder_process.h. Nothing is allocated per job.

#include <sys/types.h>

#include "shim/borrow/address_space.h"
#include "shim/borrow/kept_pages.h"
#include "shim/borrow/vault.h"
#include "shim/heap/memory_map.h"
#include "shim/program.h"

namespace shim::borrow {

struct HolderPlan;

class Holder {
 public:
  // Gives up the rights of the holder before it parks; runs in its process.
  using Confine = void (*)(void* context);

  // Makes a holder while kProcFd is open. Null with nothing changed: this kernel lacks what it
  // takes, or something went wrong, and jobs are forked.
  static Holder* make(const Cell& cell, Confine confine, void* context);

  pid_t pid() const { return pid_; }
  // The job, from when it is there until it is reaped: of this process's children, the one that is
  // not the holder. Where pids can be chosen it is known beforehand. 0: there is none.
  pid_t job() const;
  // Starts a job, after the last has been rolled back. It is a child of this process; the clone
  // itself may come later.
  void start(const JobOrder& order, const JobFds& fds);
  // Waits for the holder's word that it is parked, which it gives after a rollback, and in place of
  // a job when the kernel lets it start no process. False: it has ended.
  bool await_parked();
  // After the job was reaped: removes its traces. `faults`: of pages, all of the job's. False: that
  // could not be done, or the holder has ended, and the cell must end.
  bool roll_back(long faults);
  // After roll_back(): compares the whole address space with the first state: areas
  // and their flags, and every page that is no file's. Takes milliseconds. 0, or the kind of what
  // differs: EUCLEAN an area or its flags, EILSEQ a page, E2BIG more than can be looked at.
  int verify();
  // Of pages kept warm: those that the next job will find, and, after roll_back(), those of them
  // that the last one found and has not changed.
  size_t warm_pages() const { return kept_.size() - first_kept_; }
  size_t unused_warm_pages() const { return unused_warm_; }
  // Areas whose pages are those of files in memory: the image of the heap, what read_view() has
  // read, and what is shared with pid 1 and the daemon.
  size_t image_bytes() const { return image_bytes_; }

 private:
  static constexpr pid_t kJobPid = 2;
  struct Range {
    uintptr_t begin, end;
  };
  struct Changing : Range {
    const char* first;  // what its pages are without a job, one after the other; null: zeros
    bool is_known;      // or they are elsewhere
  };
  explicit Holder(const Cell& cell);
  bool fork(const HolderPlan& plan);
  void end();
  bool take_room(int vault_file);
  void read_view();
  bool read_layout();
  bool save_first_state();
  static Changing changing(const Area& area, const MemoryMap& map);
  bool keep(uintptr_t page);
  bool read_page(uintptr_t page, char* into) const;
  const char* first_content_of(uintptr_t page) const;
  void note_dropped(uintptr_t page);
  bool keep_warm();
  bool make_present(const uintptr_t* pages, size_t count);
  bool drop_written();
  bool drop_noticed();
  bool drop_own();
  bool drop_written(const Region& region);
  bool drop_everything();
  bool drop(Range pages);
  void add(const Call& call);
  bool has_room_for_call() const;
  void begin_program();
  void end_program();
  void write_head(size_t calls, size_t copies, Then then);
  bool restore_now();
  // verify.cc
  size_t read_areas(char* into) const;
  bool note_areas();
  bool holds_first_content(uintptr_t page) const;

  static constexpr size_t kMostAreas = 4096;
  static constexpr size_t kMostGaps = 1024;
  static constexpr size_t kMostRegions = 4096;
  static constexpr size_t kAreasText = 2 << 20;

  const bool chooses_pids_;
  const bool tracks_;            // writes are noticed
  const bool counts_residence_;  // of jobs' memory: no control group does
  pid_t pid_ = -1;
  char* vault_ = nullptr;
  Desk* desk_ = nullptr;
  uintptr_t brk_ = 0;
  Program program_;
  size_t calls_ = 0;
  char* first_areas_ = nullptr;  // smaps, of the first state; then room for another reading
  size_t first_areas_size_ = 0;
  size_t areas_ = 0, gaps_ = 0;
  Changing area_[kMostAreas];  // private and writable
  Range gap_[kMostGaps];       // where jobs may map
  KeptPages kept_;
  Region regions_[kMostRegions];
  size_t most_kept_ = kMostKept;
  const char* zeros_ = nullptr;  // a page of them, in the vault
  size_t first_kept_ = 0;        // those that were there from the start
  size_t unused_warm_ = 0;
  size_t image_bytes_ = 0;
  size_t warm_ = 0;
  uintptr_t warm_pages_[kMostWarmPagesOfOthers];  // to be kept after this rollback
  RecentPages dropped_;
};

}  // namespace shim::borrow
