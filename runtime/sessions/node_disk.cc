#include "runtime/sessions/node_disk.h"

#include <fcntl.h>
#include <unistd.h>
#include <zstd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "sandbox/sys/file.h"

namespace runtime {

using sys::Error;
using sys::OwnedFd;
using sys::Result;

namespace {

constexpr int kLevel = 1;  // memory is waited for
constexpr size_t kPiece = size_t{256} << 10;

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
  Compression() : context_(ZSTD_createCCtx(), ZSTD_freeCCtx) {}

  // The number of bytes written.
  Result<uint64_t> run(int from, uint64_t bytes, int to) {
    if (!context_) return Error::from_errno("compress a node", ENOMEM);
    TRY(checked(ZSTD_CCtx_setParameter(context_.get(), ZSTD_c_compressionLevel, kLevel)));
    TRY(checked(ZSTD_CCtx_setParameter(context_.get(), ZSTD_c_checksumFlag, 1)));
    uint64_t written = 0;
    for (uint64_t at = 0; at < bytes;) {
      const size_t got = TRY(read_some(from, in_, at));
      if (got == 0) return Error::from_errno("read a node", EIO);
      at += got;
      written += TRY(put({in_.data(), got, 0}, at < bytes ? ZSTD_e_continue : ZSTD_e_end, to));
    }
    return written;
  }

 private:
  Result<uint64_t> put(ZSTD_inBuffer in, ZSTD_EndDirective how, int to) {
    uint64_t written = 0;
    for (size_t left = 1; left > 0;) {
      ZSTD_outBuffer out{out_.data(), out_.size(), 0};
      left = TRY(checked(ZSTD_compressStream2(context_.get(), &out, &in, how)));
      TRY(sys::write_all(to, {out_.data(), out.pos}));
      written += out.pos;
      if (how == ZSTD_e_continue) left = in.size - in.pos;
    }
    return written;
  }

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
                                         const Reserve& on_disk) const {
  auto stored = std::make_shared<StoredContents>();
  stored->bytes = contents.bytes;
  stored->file = TRY(nameless_file(folder_.get()));
  const uint64_t written =
      TRY(Compression().run(contents.file.get(), contents.bytes, stored->file.get()));
  stored->hold = on_disk(written);
  if (!stored->hold) return Error::because("no room on the disk for nodes");
  return Stored(std::move(stored));
}

Result<std::shared_ptr<const StoredState>> NodeDisk::write(const NodeState& state,
                                                           const Reserve& on_disk) {
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

Result<std::shared_ptr<const NodeState>> NodeDisk::read(const StoredState& state,
                                                        const Reserve& in_memory) {
  auto read = std::make_shared<NodeState>();
  read->bytes = state.bytes;
  for (const Stored& stored : state.files) {
    Memory twin = twin_of(stored);
    if (!twin) {
      auto contents = std::make_shared<NodeContents>();
      contents->bytes = stored->bytes;
      contents->hold = in_memory(stored->bytes);
      if (!contents->hold) return Error::because("no room in the memory for nodes");
      contents->file = TRY(new_node_file(stored->bytes));
      TRY(decompress(stored->file.get(), stored->bytes, contents->file.get()));
      TRY(seal_node_file(contents->file.get()));
      twin = std::move(contents);
      pair(twin, stored);
    }
    read->files.push_back(std::move(twin));
  }
  return std::shared_ptr<const NodeState>(std::move(read));
}

}  // namespace runtime
