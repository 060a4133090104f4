#include "runtime/builds/build_cache.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "images/sha256.h"
#include "runtime/job/input_path.h"
#include "sandbox/sys/file.h"
#include "sandbox/sys/thread.h"

namespace runtime {

using sys::Error;
using sys::Result;

namespace {

constexpr std::string_view kMagic = "zygo build 1\n";
constexpr size_t kHex = 64;
constexpr size_t kMostWaiting = 64;  // builds; more come faster than the disk takes them

void append_number(std::string& text, uint64_t value) {
  for (int i = 0; i < 8; ++i, value >>= 8) text += static_cast<char>(value & 0xff);
}

void append_text(std::string& text, std::string_view part) {
  append_number(text, part.size());
  text += part;
}

// Takes an entry apart, from the front.
class EntryReader {
 public:
  explicit EntryReader(std::string_view bytes) : left_(bytes) {}

  Result<std::string_view> take(uint64_t size) {
    if (size > left_.size()) return Error::because("ends early");
    const std::string_view taken = left_.substr(0, size);
    left_.remove_prefix(size);
    return taken;
  }
  Result<uint64_t> number() {
    const std::string_view bytes = TRY(take(8));
    uint64_t value = 0;
    for (size_t i = 8; i-- > 0;) value = value << 8 | static_cast<unsigned char>(bytes[i]);
    return value;
  }
  Result<std::string> text() {
    const uint64_t size = TRY(number());
    return std::string(TRY(take(size)));
  }
  std::string_view left() const { return left_; }

 private:
  std::string_view left_;
};

Result<InputFile> read_file_of(EntryReader& reader) {
  InputFile file;
  const uint64_t executable = TRY(reader.number());
  if (executable > 1) return Error::because("says neither that a file is executable nor not");
  file.executable = executable == 1;
  file.path = TRY(reader.text());
  if (const char* objection = objection_to_path(file.path))
    return Error::because("has a file whose path will not do: " + std::string(objection));
  file.content = TRY(reader.text());
  return file;
}

Result<void> check_owner(const struct stat& info, const std::string& path) {
  if (info.st_uid != ::geteuid())
    return Error::because(path + ": belongs to user " + std::to_string(info.st_uid) + ", not to " +
                          std::to_string(::geteuid()) + " who runs zygo");
  if (info.st_mode & (S_IWGRP | S_IWOTH))
    return Error::because(path + ": others may write to it (chmod go-w)");
  return {};
}

}  // namespace

std::string encode_build(const std::string& key, const StoredBuild& build) {
  std::string rest = key;
  append_number(rest, static_cast<uint64_t>(build.built_us));
  append_number(rest, build.files.size());
  for (const InputFile& file : build.files) {
    append_number(rest, file.executable ? 1 : 0);
    append_text(rest, file.path);
    append_text(rest, file.content);
  }
  return std::string(kMagic) + images::sha256_of(rest) + "\n" + rest;
}

Result<StoredBuild> decode_build(std::string_view entry, const std::string& key) {
  EntryReader reader(entry);
  if (TRY(reader.take(kMagic.size())) != kMagic) return Error::because("is no build");
  const std::string_view digest = TRY(reader.take(kHex));
  if (TRY(reader.take(1)) != "\n") return Error::because("is no build");
  if (digest != images::sha256_of(reader.left())) return Error::because("is damaged");
  if (TRY(reader.take(kHex)) != key) return Error::because("is another program's");
  StoredBuild build;
  const uint64_t took = TRY(reader.number());
  if (took > INT64_MAX) return Error::because("took longer than time lasts");
  build.built_us = static_cast<int64_t>(took);
  for (uint64_t count = TRY(reader.number()); count > 0; --count)
    build.files.push_back(TRY(read_file_of(reader)));
  if (build.files.empty()) return Error::because("holds no files");
  if (!reader.left().empty()) return Error::because("goes on behind its end");
  return build;
}

BuildCache::~BuildCache() {
  {
    std::lock_guard lock(mutex_);
    ending_ = true;
  }
  changed_.notify_one();
  if (writer_.joinable()) writer_.join();
}

Result<void> BuildCache::check(const std::string& root) {
  struct stat info {};
  if (::lstat(root.c_str(), &info) < 0)
    return errno == ENOENT ? Result<void>() : Error::from_errno(root);
  if (!S_ISDIR(info.st_mode)) return Error::because(root + ": is no directory");
  return check_owner(info, root);
}

std::optional<StoredBuild> BuildCache::get(const std::string& key) const {
  if (!check(files_.root())) return std::nullopt;
  Result<StoredBuild> build = read(key);
  if (build) {
    static_cast<void>(files_.touch(key));
    return *std::move(build);
  }
  // Whatever it is, it is in the way of a good one.
  if (build.error().code() == 0) static_cast<void>(files_.remove(key).ok());
  return std::nullopt;
}

Result<StoredBuild> BuildCache::read(const std::string& key) const {
  const std::string path = files_.path_of(key);
  auto file = sys::open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
  if (!file && file.error().code() == ELOOP) return Error::because(path + ": is a link");
  if (!file) return std::move(file).error();
  struct stat info {};
  if (::fstat(file->get(), &info) < 0) return Error::from_errno("stat " + path);
  if (!S_ISREG(info.st_mode)) return Error::because(path + ": is no regular file");
  TRY(check_owner(info, path));
  if (static_cast<uint64_t>(info.st_size) > kLargest.count)
    return Error::because(path + ": is too large");
  return decode_build(TRY(sys::read_all(file->get(), kLargest.count)), key);
}

void BuildCache::put(const std::string& key, StoredBuild build) {
  uint64_t bytes = 0;
  for (const InputFile& file : build.files) bytes += file.content.size();
  if (bytes > kLargest.count) return;
  std::lock_guard lock(mutex_);
  if (ending_ || waiting_.size() >= kMostWaiting) return;
  if (!writer_.joinable()) {
    sys::Result<std::thread> writer = sys::start_thread([this] { write_all(); });
    if (!writer) return;  // no room for one: it is compiled again some day
    writer_ = std::move(writer).value();
  }
  waiting_.emplace_back(key, std::move(build));
  changed_.notify_one();
}

// Files are not synced: an entry that a power cut has halved does not have its digest.
void BuildCache::write_all() {
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [this] { return ending_ || !waiting_.empty(); });
    if (waiting_.empty()) return;
    const auto [key, build] = std::move(waiting_.front());
    waiting_.pop_front();
    lock.unlock();
    if (check(files_.root())) {
      const std::string entry = encode_build(key, build);
      if (entry.size() <= kLargest.count)
        static_cast<void>(files_.put(key, entry, BoundedFiles::Survives::kProcessOnly).ok());
    }
    lock.lock();
  }
}

}  // namespace runtime
