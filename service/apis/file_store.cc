#include "service/apis/file_store.h"

#include <fmt/format.h>
#include <sys/random.h>

#include <algorithm>
#include <string_view>

#include "service/http/allowance.h"

namespace service {

using sys::Error;
using sys::Nanoseconds;
using sys::Result;

namespace {

// An entry's own share, so that many small ones are bounded as well.
constexpr uint64_t kOverhead = 512;

std::string random_id(size_t characters) {
  constexpr std::string_view kDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";
  std::string bytes(characters, 0);
  VERIFY(::getrandom(bytes.data(), bytes.size(), 0) == static_cast<ssize_t>(bytes.size()));
  std::string id;
  for (const char byte : bytes) id += kDigits[static_cast<unsigned char>(byte) % kDigits.size()];
  return id;
}

}  // namespace

Result<std::string> FileStore::add(StoredFile file, Nanoseconds now) {
  std::lock_guard lock(mutex_);
  drop_unused(now);
  const uint64_t bytes = file.content.size() + file.name.size() + kOverhead;
  if (entries_.size() >= limits_.files || bytes > limits_.bytes.count - bytes_ ||
      !leaves_others_room(file.owner, bytes)) {
    return Error::because(fmt::format("the store of files is full: {} files, {} of {} bytes",
                                      entries_.size(), bytes_, limits_.bytes.count));
  }
  std::string id = random_id(limits_.id_characters);
  while (entries_.contains(id)) id = random_id(limits_.id_characters);
  by_use_.push_back(id);
  entries_[id] = {std::make_shared<const StoredFile>(std::move(file)), nullptr, bytes, now,
                  std::prev(by_use_.end())};
  bytes_ += bytes;
  return id;
}

// A file without an owner need not leave room: where one has none, none has.
bool FileStore::leaves_others_room(const std::string& owner, uint64_t bytes) const {
  if (owner.empty()) return true;
  const uint64_t left = limits_.bytes.count - bytes_ - bytes;
  uint64_t files = 1;
  for (const auto& [id, entry] : entries_) {
    if (entry.file->owner != owner) continue;
    ++files;
    bytes += entry.bytes;
  }
  return leaves_room(files, limits_.files - entries_.size() - 1) && leaves_room(bytes, left);
}

FileStore::Entry* FileStore::entry_of(const std::string& owner, const std::string& id,
                                      Nanoseconds now) {
  drop_unused(now);
  auto found = entries_.find(id);
  if (found == entries_.end() || found->second.file->owner != owner) return nullptr;
  found->second.used = now;
  by_use_.splice(by_use_.end(), by_use_, found->second.place);
  return &found->second;
}

StoredFilePtr FileStore::find(const std::string& owner, const std::string& id, Nanoseconds now) {
  std::lock_guard lock(mutex_);
  const Entry* entry = entry_of(owner, id, now);
  return entry ? entry->file : nullptr;
}

// The second copy counts, too; where it would not fit, it lives only as long as who asked for it.
Result<std::shared_ptr<const runtime::Artefact>> FileStore::executable(const std::string& owner,
                                                                       const std::string& id,
                                                                       Nanoseconds now) {
  std::lock_guard lock(mutex_);
  Entry* entry = entry_of(owner, id, now);
  if (!entry) return Error::because("there is no such file");
  if (entry->executable) {
    made_.splice(made_.end(), made_, std::find(made_.begin(), made_.end(), id));
    return entry->executable;
  }
  const std::string& content = entry->file->content;
  auto made = TRY(runtime::Artefact::create({{"program", content, true}}, "program", 0));
  if (content.size() > limits_.bytes.count - bytes_) return made;
  if (made_.size() >= limits_.executables) drop_executable(std::string(made_.front()));
  made_.push_back(id);
  entry->executable = made;
  entry->bytes += content.size();
  bytes_ += content.size();
  return made;
}

void FileStore::drop_executable(const std::string& id) {
  Entry& entry = entries_.at(id);
  if (!entry.executable) return;
  entry.executable.reset();
  entry.bytes -= entry.file->content.size();
  bytes_ -= entry.file->content.size();
  made_.remove(id);
}

bool FileStore::remove(const std::string& owner, const std::string& id) {
  std::lock_guard lock(mutex_);
  auto found = entries_.find(id);
  if (found == entries_.end() || found->second.file->owner != owner) return false;
  drop(id);
  return true;
}

std::vector<std::pair<std::string, std::string>> FileStore::list(const std::string& owner,
                                                                 Nanoseconds now) {
  std::lock_guard lock(mutex_);
  drop_unused(now);
  std::vector<std::pair<std::string, std::string>> names;
  for (const auto& [id, entry] : entries_) {
    if (entry.file->owner == owner) names.emplace_back(id, entry.file->name);
  }
  std::sort(names.begin(), names.end());
  return names;
}

void FileStore::drop_unused(Nanoseconds now) {
  while (!by_use_.empty() && now - entries_.at(by_use_.front()).used > limits_.keep)
    drop(std::string(by_use_.front()));
}

void FileStore::drop(const std::string& id) {
  drop_executable(id);
  auto found = entries_.find(id);
  bytes_ -= found->second.bytes;
  by_use_.erase(found->second.place);
  entries_.erase(found);
}

}  // namespace service
