#pragma once
// The file of a node of a session: how the process of a step differed, when the step was over, from
// the template that it was forked from, and what lay in its scratch. The daemon writes it
// (runtime/sessions); the process of a later step puts it back (restore.h). Header, then the tables
// in the order of its counts, then names, then contents. All offsets count from the start.
//
// Pages that an earlier node has, too, stay in that one's file: a node has some files more, in
// which only contents count.

#include <cstddef>
#include <cstdint>

namespace shim::state {

constexpr uint64_t kMagic = 0x3165646f6e67797a;  // "zygnode1"
constexpr size_t kPageBytes = 4096;

// What a step needs itself lies in the same place in all cells, above the vault (borrow/vault.h),
// so that the areas of a node never meet it.
constexpr uintptr_t kAnswerAddress = 0x6f1000000000;
constexpr uintptr_t kRequestAddress = 0x6f2000000000;
constexpr uintptr_t kNodeAddress = 0x6f3000000000;
constexpr uintptr_t kEndOfOurs = 0x6f4000000000;

constexpr size_t kMostFiles = 8;  // of a node

// In the names, where a NUL follows it.
struct Name {
  uint32_t at = 0, size = 0;
};

struct Header {
  uint64_t magic = kMagic;
  uint64_t bytes = 0;  // of the whole file
  uint64_t brk = 0;    // brk(2)
  uint32_t areas = 0, runs = 0, entries = 0, descriptors = 0;
  uint32_t name_bytes = 0;
  uint32_t umask = 0;
  uint64_t blocked = 0;  // signals, by their bits
  Name directory;        // the working directory, relative to the scratch; empty: that itself
  uint32_t files = 1, unused = 0;
  uint64_t file_bytes[kMostFiles] = {};  // of its own, and then of the others
};

// A difference between the areas of the process and those of the template. kHeap is one where that
// has none, which brk(2) has made already. kUnwritten, behind the others: what runs do not cover of
// its pages is as its file has it, or zero, whatever the process that restores it has inherited
// there.
enum class AreaKind : uint32_t { kNone, kAnonymous, kHeap, kFile, kProtection, kUnwritten };
struct Area {
  uint64_t begin = 0, end = 0;
  AreaKind kind = AreaKind::kNone;
  uint32_t protection = 0;             // PROT_*
  uint64_t offset = 0;                 // in the file
  uint64_t inode = 0, file_bytes = 0;  // of the file, by which it is known again
  Name file;
};

// Pages that lie side by side, in the order of their addresses. `protection` is that of their area,
// and `at` their place in that one of the node's files.
struct Run {
  uint64_t begin = 0, pages = 0, at = 0;
  uint32_t protection = 0, file = 0;
  uint64_t end() const { return begin + pages * kPageBytes; }
};

// Of the scratch, parents first.
enum class EntryKind : uint32_t { kDirectory, kFile, kSymbolicLink, kHardLink };
struct Entry {
  EntryKind kind = EntryKind::kFile;
  uint32_t mode = 0;
  int64_t seconds = 0, nanoseconds = 0;  // when it was modified
  Name path;                             // relative to the scratch
  Name target;                           // of both kinds of links; of a hard link, another entry
  uint64_t at = 0, size = 0;             // the content of a file
};

struct Descriptor {
  int32_t number = 0;
  uint32_t flags = 0;  // of open(2)
  uint64_t offset = 0;
  int32_t same_as = -1;  // the number of an earlier one, of the same open file
  uint32_t unused = 0;
  Name path;  // of a regular file or a directory of the scratch, relative to that, or of a device
};

}  // namespace shim::state
