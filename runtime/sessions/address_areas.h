#pragma once
// The areas of an address space, as /proc/PID/maps tells them (proc_pid_maps(5)), and how those of
// a step's process differ from those of the process that it was forked from. Pure.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "shim/state/format.h"

namespace runtime {

struct AddressArea {
  uint64_t begin = 0, end = 0;
  uint32_t protection = 0;  // PROT_*
  bool is_shared = false;
  uint64_t offset = 0;
  uint64_t device = 0, inode = 0;  // 0: it is no file's
  std::string path;                // or a name in brackets
  bool operator==(const AddressArea&) const = default;
};

// None: the text is not what the kernel writes.
std::optional<std::vector<AddressArea>> parse_maps(std::string_view text);

// What the kernel gives to each process, and what is a step's own: no part of any state.
bool is_no_state(const AddressArea& area);

// Areas of `now` where a page is the process's own for as long as it does not give it back itself:
// private, and of no file but those that it was forked with, which nobody changes. Another file
// that is cut takes the pages of all with it (mmap(2), truncation).
std::vector<AddressArea> trackable_areas(const std::vector<AddressArea>& before,
                                         const std::vector<AddressArea>& now);
// The same of a process into which a node with these areas has just been put back.
std::vector<AddressArea> trackable_areas(const std::vector<shim::state::Area>& of_node,
                                         const std::vector<AddressArea>& now);

struct AreaChange {
  uint64_t begin = 0, end = 0;
  shim::state::AreaKind kind = shim::state::AreaKind::kNone;
  uint32_t protection = 0;
  uint64_t offset = 0;
  uint64_t device = 0, inode = 0;  // of kFile
  std::string path;
  bool operator==(const AreaChange&) const = default;
};

struct AreaChanges {
  std::vector<AreaChange> changes;
  std::string cannot;  // be kept, in words; empty: all can
};

// Where brk(2) is, which the kernel tells to nobody else. `start`: where the heap begins; it has no
// gaps, so without another word all up to the first gap is the heap.
uint64_t end_of_heap(const std::vector<AddressArea>& areas, uint64_t start);
// As the process itself says, where that can be. What lies behind may be no part of its template's
// heap, as brk(2) would take that away.
uint64_t end_of_heap(const std::vector<AddressArea>& before, const std::vector<AddressArea>& areas,
                     uint64_t start, uint64_t said);

// What makes areas like `before` into areas like `now`, in the order of addresses; kUnwritten, for
// all of a process's own that a page may lie in, come last.
// `brk`: where the heap ends. `request_bytes`: of what a step was told, which lies in an area of
// ours.
AreaChanges changes_of(const std::vector<AddressArea>& before, const std::vector<AddressArea>& now,
                       uint64_t brk, uint64_t request_bytes = 0);

}  // namespace runtime
