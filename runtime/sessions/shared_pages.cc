#include "runtime/sessions/shared_pages.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

#include "runtime/sessions/scratch_look.h"

namespace runtime {

using shim::state::Header;
using shim::state::kMostFiles;
using shim::state::kPageBytes;
using shim::state::Run;
using sys::Result;

namespace {

constexpr uint64_t kLeastCompared = 128;  // pages; fewer are written sooner than compared
constexpr uint64_t kMostWaste = 4;    // one page held in vain for so many of the state ...
constexpr uint64_t kWasteOfAll = 256;  // ... or these

Result<void> read_at(int file, void* into, size_t bytes, uint64_t at) {
  char* to = static_cast<char*>(into);
  while (bytes > 0) {
    const ssize_t n = ::pread(file, to, bytes, static_cast<off_t>(at));
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return sys::Error::from_errno("read a node", n < 0 ? errno : EIO);
    to += n;
    at += static_cast<uint64_t>(n);
    bytes -= static_cast<size_t>(n);
  }
  return {};
}

bool goes_on(const Run& last, const Run& next) {
  if (last.end() != next.begin || last.protection != next.protection || last.file != next.file)
    return false;
  return last.file == 0 || last.at + last.pages * kPageBytes == next.at;
}

void append(Runs& runs, const Run& next) {
  if (!runs.empty() && goes_on(runs.back(), next))
    runs.back().pages += next.pages;
  else
    runs.push_back(next);
}

Run part_of(const Run& run, uint64_t begin, uint64_t end) {
  Run part = run;
  part.begin = begin;
  part.pages = (end - begin) / kPageBytes;
  return part;
}

// Walks runs that are also the node's, page by page, beside what is read of the process.
class Comparison {
 public:
  Comparison(const Runs& both, const NodeState& from) : both_(both), from_(from) {}

  // The next bytes of the process.
  Result<void> take(std::string_view bytes) {
    while (!bytes.empty()) {
      const Run& run = both_[run_];
      const uint64_t left = (run.pages - page_) * kPageBytes;
      const size_t count = std::min<uint64_t>(left, bytes.size());
      TRY(compare(run, bytes.substr(0, count)));
      bytes.remove_prefix(count);
      page_ += count / kPageBytes;
      if (page_ == run.pages) ++run_, page_ = 0;
    }
    return {};
  }
  Runs found() && { return std::move(found_); }

 private:
  Result<void> compare(const Run& run, std::string_view bytes) {
    theirs_.resize(bytes.size());
    const uint64_t at = run.at + page_ * kPageBytes;
    TRY(read_at(from_.files[run.file]->file.get(), theirs_.data(), bytes.size(), at));
    for (size_t i = 0; i < bytes.size(); i += kPageBytes) {
      const bool is_same = std::memcmp(bytes.data() + i, theirs_.data() + i, kPageBytes) == 0;
      Run page = part_of(run, run.begin + page_ * kPageBytes + i,
                         run.begin + page_ * kPageBytes + i + kPageBytes);
      page.file = is_same ? run.file + 1 : 0;
      page.at = is_same ? at + i : 0;
      append(found_, page);
    }
    return {};
  }

  const Runs& both_;
  const NodeState& from_;
  size_t run_ = 0;
  uint64_t page_ = 0;  // of it
  std::vector<char> theirs_;
  Runs found_;
};

// Of runs that are also the node's: file 0 where the process has another content.
Result<Runs> compare_with_node(const Runs& both, const Sharing& sharing) {
  Comparison comparison(both, sharing.from);
  TRY(sharing.process.read(both, [&](std::string_view bytes) -> Result<void> {
    if (sharing.give_up()) return sys::Error::because(kTakesTooLong);
    return comparison.take(bytes);
  }));
  return std::move(comparison).found();
}

}  // namespace

Result<NodeTables> tables_of(const NodeState& node) {
  const int file = node.files.front()->file.get();
  Header header;
  TRY(read_at(file, &header, sizeof header, 0));
  NodeTables tables;
  tables.areas.resize(header.areas);
  tables.runs.resize(header.runs);
  tables.entries.resize(header.entries);
  uint64_t at = sizeof header;
  const auto read_table = [&](auto& table) -> Result<void> {
    const uint64_t bytes = table.size() * sizeof table.front();
    TRY(read_at(file, table.data(), bytes, at));
    at += bytes;
    return {};
  };
  TRY(read_table(tables.areas));
  TRY(read_table(tables.runs));
  TRY(read_table(tables.entries));
  return tables;
}

Overlap overlap_of(const Runs& runs, const Runs& of_node) {
  Overlap overlap;
  auto theirs = of_node.begin();
  for (const Run& run : runs) {
    uint64_t at = run.begin;
    while (at < run.end()) {
      while (theirs != of_node.end() && theirs->end() <= at) ++theirs;
      const bool meets = theirs != of_node.end() && theirs->begin < run.end();
      const uint64_t next = meets ? std::max(at, theirs->begin) : run.end();
      if (next > at) overlap.alone.push_back(part_of(run, at, next));
      if (!meets) break;
      at = std::min(run.end(), theirs->end());
      Run both = part_of(run, next, at);
      both.file = theirs->file;
      both.at = theirs->at + (next - theirs->begin);
      overlap.both.push_back(both);
    }
  }
  return overlap;
}

Runs joined(Runs runs) {
  std::sort(runs.begin(), runs.end(), [](const Run& a, const Run& b) { return a.begin < b.begin; });
  Runs all;
  for (const Run& run : runs) append(all, run);
  return all;
}

std::vector<std::shared_ptr<const NodeContents>> choose_files(
    Runs& runs, const std::vector<std::shared_ptr<const NodeContents>>& files) {
  struct Use {
    uint64_t pages = 0;
    uint32_t file = 0;  // as the runs name it: one more than its place
  };
  std::vector<Use> uses(files.size());
  uint64_t all = 0;
  for (uint32_t i = 0; i < uses.size(); ++i) uses[i].file = i + 1;
  for (const Run& run : runs) {
    all += run.pages;
    if (run.file > 0) uses[run.file - 1].pages += run.pages;
  }
  std::sort(uses.begin(), uses.end(), [](const Use& a, const Use& b) { return a.pages > b.pages; });
  std::vector<uint32_t> numbers(files.size() + 1, 0);
  std::vector<std::shared_ptr<const NodeContents>> chosen;
  uint64_t wasted = 0;
  for (const Use& use : uses) {
    const auto& file = files[use.file - 1];
    const uint64_t waste = file->bytes / kPageBytes - use.pages;
    const bool is_worth_it = wasted + waste <= std::max(all / kMostWaste, kWasteOfAll);
    if (use.pages == 0 || chosen.size() == kMostFiles - 1 || !is_worth_it) continue;
    wasted += waste;
    chosen.push_back(file);
    numbers[use.file] = static_cast<uint32_t>(chosen.size());
  }
  for (Run& run : runs) {
    run.file = numbers[run.file];
    if (run.file == 0) run.at = 0;
  }
  return chosen;
}

Result<SharedPages> share_pages(Runs own, const Runs& unwritten, const Sharing& sharing) {
  uint64_t pages = 0;
  for (const Run& run : own) pages += run.pages;
  if (pages < kLeastCompared && unwritten.empty()) return SharedPages{std::move(own), {}};
  const Runs theirs = TRY(tables_of(sharing.from)).runs;
  Runs kept = overlap_of(unwritten, theirs).both;
  if (sharing.verifies) {
    const Runs found = TRY(compare_with_node(kept, sharing));
    const auto has_changed = [](const Run& run) { return run.file == 0; };
    if (std::any_of(found.begin(), found.end(), has_changed))
      return sys::Error::because("a page that was written to, and nothing told");
  }
  const Overlap rest = overlap_of(kept.empty() ? own : overlap_of(own, kept).alone, theirs);
  SharedPages shared;
  shared.runs = TRY(compare_with_node(rest.both, sharing));
  for (Run& run : kept) ++run.file;
  shared.runs.insert(shared.runs.end(), rest.alone.begin(), rest.alone.end());
  shared.runs.insert(shared.runs.end(), kept.begin(), kept.end());
  shared.runs = joined(std::move(shared.runs));
  shared.files = choose_files(shared.runs, sharing.from.files);
  shared.runs = joined(std::move(shared.runs));
  return shared;
}

}  // namespace runtime
