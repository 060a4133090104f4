#pragma once
// EngineCounts: what an engine has and has had, roughly: shards count on while they are asked.

#include <cstddef>
#include <cstdint>

namespace runtime {

struct NodeCounts {
  uint64_t nodes = 0, bytes = 0;  // that are kept
  uint64_t dropped = 0;           // for want of room, or by their age
  uint64_t on_disk = 0, disk_bytes = 0;
  size_t waiting = 0;     // steps, for memory of nodes
  uint64_t gone_on = 0;   // steps, in the process of the one before
  uint64_t standbys = 0;  // processes that were put to a node before a step asked for one there
  uint64_t stood_by = 0;  // steps, in such a process
  bool operator==(const NodeCounts&) const = default;
};

struct EngineCounts {
  size_t cells = 0, templates = 0;  // alive
  uint64_t cells_made = 0;
  uint64_t forks = 0;                     // runs of programs and compilers
  size_t tenant_templates = 0;            // of those alive, which are a tenant's
  uint64_t tenant_templates_dropped = 0;  // idle ones that went to make room, or by their age
  uint64_t rollback_failures = 0;         // of memory that jobs borrow: see RollbackRecord
  NodeCounts sessions = {};
  bool operator==(const EngineCounts&) const = default;
};

}  // namespace runtime
