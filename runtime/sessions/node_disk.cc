#include "runtime/sessions/node_disk.h"

#include <fcntl.h>
#include <unistd.h>
#include <zstd.h>

#include <algorithm>
#include <cerrno>
#include <functional>
#include <utility>

#include "sandbox/sys/file.h"

namespace runtime {

using sys::Error;
using sys::OwnedFd;
using sys::Result;

namespace {

constexpr int kLevel = 1;  // memory is waited for
constexpr size_t kPiece = size_t{256} << 10;

// Now, perhaps: nothing is wrong with what is on the disk.
bool lacks_room(const Error& error) {
  const int code = error.code();
  return code == ENOMEM || code == ENOSPC || code == EMFILE || code == ENFILE;
}

Result<OwnedFd> nameless_file(int folder) {
  OwnedFd file(::openat(folder, ".", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600));
  if (!file) return Error::from_errno("a file for nodes");
  return file;
}

Result<size_t> read_some(int file, std::vector<char>& into, uint64_t at) {
  for (;;) {
    const ssize_t n = ::pread(file, into.data(), into.size(), static_cast<off_t>(at));
    if (n >= 0) return static_cast<size_t>(n);
    if (errno != EINTR) return Error::from_errno("read a node");
  }
}

Result<size_t> checked(size_t result) {
  if (ZSTD_isError(result))
    return Error::because(std::string("a node on the disk: ") + ZSTD_getErrorName(result));
  return result;
}

// The bytes of one file, compressed into another. The frame has a checksum.
class Compression {
 public:
  // `room` is asked before bytes are written.
  using Room = std::function<Result<void>(uint64_t bytes)>;
  Compression(int from, int to, Room room)
      : from_(from), to_(to), room_(std::move(room)), context_(ZSTD_createCCtx(), ZSTD_freeCCtx) {}

  Result<void> run(uint64_t bytes) {
    if (!context_) return Error::from_errno("compress a node", ENOMEM);
    TRY(checked(ZSTD_CCtx_setParameter(context_.get(), ZSTD_c_compressionLevel, kLevel)));
    TRY(checked(ZSTD_CCtx_setParameter(context_.get(), ZSTD_c_checksumFlag, 1)));
    for (uint64_t at = 0; at < bytes;) {
      const size_t got = TRY(read_some(from_, in_, at));
      if (got == 0) return Error::from_errno("read a node", EIO);
      at += got;
      TRY(put({in_.data(), got, 0}, at < bytes ? ZSTD_e_continue : ZSTD_e_end));
    }
    return {};
  }

 private:
  Result<void> put(ZSTD_inBuffer in, ZSTD_EndDirective how) {
    for (size_t left = 1; left > 0;) {
      ZSTD_outBuffer out{out_.data(), out_.size(), 0};
      left = TRY(checked(ZSTD_compressStream2(context_.get(), &out, &in, how)));
      if (out.pos > 0) TRY(room_(out.pos));
      TRY(sys::write_all(to_, {out_.data(), out.pos}));
      if (how == ZSTD_e_continue) left = in.size - in.pos;
    }
    return {};
  }

  const int from_, to_;
  const Room room_;
  std::unique_ptr<ZSTD_CCtx, size_t (*)(ZSTD_CCtx*)> context_;
  std::vector<char> in_ = std::vector<char>(kPiece), out_ = std::vector<char>(kPiece);
};

// Into a file of so many bytes, exactly.
Result<void> decompress(int from, uint64_t bytes, int to) {
  const std::unique_ptr<ZSTD_DCtx, size_t (*)(ZSTD_DCtx*)> context(ZSTD_createDCtx(),
                                                                   ZSTD_freeDCtx);
  if (!context) return Error::from_errno("read a node", ENOMEM);
  std::vector<char> in(kPiece), out(kPiece);
  uint64_t at = 0, made = 0;
  for (size_t left = 1; left > 0;) {
    const size_t got = TRY(read_some(from, in, at));
    if (got == 0) return Error::because("a node on the disk: it ends early");
    at += got;
    ZSTD_inBuffer source{in.data(), got, 0};
    bool is_full = true;  // there may be more of what was read already
    while (left > 0 && (source.pos < source.size || is_full)) {
      ZSTD_outBuffer into{out.data(), out.size(), 0};
      left = TRY(checked(ZSTD_decompressStream(context.get(), &into, &source)));
      is_full = into.pos == into.size;
      made += into.pos;
      if (made > bytes) return Error::because("a node on the disk: it is too long");
      TRY(sys::write_all(to, {out.data(), into.pos}));
    }
  }
  if (made != bytes) return Error::because("a node on the disk: it is too short");
  return {};
}

}  // namespace

Result<std::unique_ptr<NodeDisk>> NodeDisk::open(const std::string& folder) {
  OwnedFd opened = TRY(sys::open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  TRY(nameless_file(opened.get()));
  return std::unique_ptr<NodeDisk>(new NodeDisk(std::move(opened)));
}

NodeDisk::Stored NodeDisk::twin_of(const Memory& contents) {
  std::lock_guard lock(mutex_);
  return contents->on_disk.lock();
}

NodeDisk::Memory NodeDisk::twin_of(const Stored& contents) {
  std::lock_guard lock(mutex_);
  return contents->in_memory.lock();
}

void NodeDisk::pair(const Memory& in_memory, const Stored& on_disk) {
  std::lock_guard lock(mutex_);
  in_memory->on_disk = on_disk;
  on_disk->in_memory = in_memory;
}

Result<NodeDisk::Stored> NodeDisk::write(const NodeContents& contents,
                                         const OnDisk& on_disk) const {
  auto stored = std::make_shared<StoredContents>();
  const auto reserve = [&](uint64_t bytes) -> Result<void> {
    const uint64_t files = stored->holds.empty() ? 1 : 0;
    NodeBudget::Hold hold = on_disk({bytes, files});
    if (!hold) return Error::because("no room on the disk for nodes");
    stored->holds.push_back(std::move(hold));
    return {};
  };
  stored->bytes = contents.bytes;
  stored->file = TRY(nameless_file(folder_.get()));
  TRY(Compression(contents.file.get(), stored->file.get(), reserve).run(contents.bytes));
  return Stored(std::move(stored));
}

Result<std::shared_ptr<const StoredState>> NodeDisk::write(const NodeState& state,
                                                           const OnDisk& on_disk) {
  auto stored = std::make_shared<StoredState>();
  stored->bytes = state.bytes;
  for (const Memory& contents : state.files) {
    Stored twin = twin_of(contents);
    if (!twin) {
      twin = TRY(write(*contents, on_disk));
      pair(contents, twin);
    }
    stored->files.push_back(std::move(twin));
  }
  return std::shared_ptr<const StoredState>(std::move(stored));
}

Result<NodeDisk::Memory> NodeDisk::read(const Stored& stored, NodeBudget::Hold hold) {
  auto contents = std::make_shared<NodeContents>();
  contents->bytes = stored->bytes;
  contents->hold = std::move(hold);
  contents->file = TRY(new_node_file(stored->bytes));
  TRY(decompress(stored->file.get(), stored->bytes, contents->file.get()));
  TRY(seal_node_file(contents->file.get()));
  Memory read = std::move(contents);
  pair(read, stored);
  return read;
}

Result<std::shared_ptr<const NodeState>> NodeDisk::read(const StoredState& state,
                                                        const InMemory& in_memory) {
  auto read = std::make_shared<NodeState>();
  read->bytes = state.bytes;
  std::vector<uint64_t> missing;
  for (const Stored& stored : state.files) {
    if (!read->files.emplace_back(twin_of(stored))) missing.push_back(stored->bytes);
  }
  std::vector<NodeBudget::Hold> holds;
  if (!missing.empty()) holds = in_memory(missing);
  if (holds.size() != missing.size()) return std::shared_ptr<const NodeState>();
  auto hold = holds.begin();
  for (size_t i = 0; i < read->files.size(); ++i) {
    Memory& contents = read->files[i];
    if (contents) continue;
    auto one = this->read(state.files[i], std::move(*hold++));
    if (!one && lacks_room(one.error())) return std::shared_ptr<const NodeState>();
    contents = TRY(std::move(one));
  }
  return std::shared_ptr<const NodeState>(std::move(read));
}

}  // namespace runtime
