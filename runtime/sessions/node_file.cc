#include "runtime/sessions/node_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <span>

#include "sandbox/sys/file.h"

namespace runtime {

using shim::state::kPageBytes;
using sys::Result;

namespace {

uint64_t in_pages(uint64_t bytes) { return (bytes + kPageBytes - 1) / kPageBytes * kPageBytes; }

template <typename T>
void append(std::string& to, const std::vector<T>& items) {
  const auto bytes = std::as_bytes(std::span(items));
  to.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
}

}  // namespace

sys::Bytes memory_of(const std::vector<shim::state::Run>& runs,
                     const std::vector<shim::state::Entry>& entries) {
  constexpr uint64_t kOfEntry = 1280;
  sys::Bytes all;
  for (const auto& run : runs) all.count += run.pages * kPageBytes;
  for (const auto& entry : entries) all.count += in_pages(entry.size) + kOfEntry;
  return all;
}

Result<sys::OwnedFd> new_node_file(uint64_t bytes) { return sys::memfd("zygo-node", bytes); }

Result<void> seal_node_file(int file) {
  constexpr int kSeals = F_SEAL_WRITE | F_SEAL_GROW | F_SEAL_SHRINK | F_SEAL_SEAL;
  if (::fcntl(file, F_ADD_SEALS, kSeals) < 0) return sys::Error::from_errno("seal");
  return {};
}

uint64_t NodeState::bytes_of_all() const {
  uint64_t all = 0;
  for (const auto& each : files) all += each->bytes;
  return all;
}

shim::state::Name NodeFile::name(std::string_view text) {
  const shim::state::Name name{static_cast<uint32_t>(names_.size()),
                               static_cast<uint32_t>(text.size())};
  names_.append(text).push_back('\0');
  return name;
}

uint64_t NodeFile::size_of_tables() const {
  return sizeof header + std::as_bytes(std::span(areas)).size() +
         std::as_bytes(std::span(runs)).size() + std::as_bytes(std::span(entries)).size() +
         std::as_bytes(std::span(descriptors)).size() + names_.size();
}

uint64_t NodeFile::size() const {
  uint64_t bytes = in_pages(size_of_tables());
  for (const auto& run : runs) bytes += run.file == 0 ? run.pages * kPageBytes : 0;
  for (const auto& entry : entries) bytes += entry.size;
  return in_pages(bytes);
}

std::vector<shim::state::Run> NodeFile::own_runs() const {
  std::vector<shim::state::Run> own = runs;
  std::erase_if(own, [](const auto& run) { return run.file != 0; });
  return own;
}

Result<void> NodeFile::lay_out() {
  uint64_t at = in_pages(size_of_tables());
  for (auto& run : runs) {
    if (run.file != 0) continue;
    run.at = at;
    at += run.pages * kPageBytes;
  }
  for (auto& entry : entries) entry.at = at, at += entry.size;
  bytes_ = in_pages(at);
  header.bytes = bytes_;
  header.areas = static_cast<uint32_t>(areas.size());
  header.runs = static_cast<uint32_t>(runs.size());
  header.entries = static_cast<uint32_t>(entries.size());
  header.descriptors = static_cast<uint32_t>(descriptors.size());
  header.name_bytes = static_cast<uint32_t>(names_.size());
  header.files = static_cast<uint32_t>(others.size() + 1);
  header.file_bytes[0] = bytes_;
  for (size_t i = 0; i < others.size(); ++i) header.file_bytes[i + 1] = others[i]->bytes;
  file_ = TRY(new_node_file(bytes_));
  std::string tables(reinterpret_cast<const char*>(&header), sizeof header);
  append(tables, areas);
  append(tables, runs);
  append(tables, entries);
  append(tables, descriptors);
  tables += names_;
  return write(0, tables);
}

// Not through a mapping: each page of one would be zeroed before it is written, and cost a fault.
Result<void> NodeFile::write(uint64_t at, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t n = ::pwrite(file_.get(), bytes.data(), bytes.size(), static_cast<off_t>(at));
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return sys::Error::from_errno("memory for a node", n < 0 ? errno : ENOSPC);
    at += static_cast<uint64_t>(n);
    bytes.remove_prefix(static_cast<size_t>(n));
  }
  return {};
}

Result<std::shared_ptr<const NodeState>> NodeFile::seal(std::shared_ptr<const void> hold) {
  TRY(seal_node_file(file_.get()));
  auto own = std::make_shared<NodeContents>();
  own->file = std::move(file_);
  own->bytes = bytes_;
  own->hold = std::move(hold);
  auto state = std::make_shared<NodeState>();
  state->files.push_back(std::move(own));
  state->files.insert(state->files.end(), others.begin(), others.end());
  state->bytes = bytes_;
  return std::shared_ptr<const NodeState>(std::move(state));
}

}  // namespace runtime
