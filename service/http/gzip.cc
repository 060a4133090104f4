#include "service/http/gzip.h"

#include <zlib.h>

#include <algorithm>
#include <array>

namespace service {

namespace {

constexpr size_t kScratch = size_t{16} << 10;
constexpr int kGzip = 16;  // added to the window's bits: a header of gzip, not of zlib
// The memory that zlib allocates to inflate: its state and a window of 32 KiB.
constexpr size_t kInflateMemory = size_t{40} << 10;
constexpr size_t kMostRatio = 1032;  // no stream of deflate gets longer than that
constexpr size_t kTrailer = 8;       // of gzip: a checksum, and the length modulo 2^32

// A window of 8 KiB and small tables cost little to set up: 4 us, where the largest cost 60.
constexpr int kDeflateWindow = 13, kDeflateMemory = 6, kFastest = 1;

Bytef* as_zlib(const char* text) { return reinterpret_cast<Bytef*>(const_cast<char*>(text)); }

}  // namespace

Inflater::Inflater(std::string_view from, size_t most, Allowance::Share share)
    : from_(from), most_(most), share_(std::move(share)) {}

Inflater::~Inflater() {
  if (zlib_) ::inflateEnd(zlib_.get());
}

bool Inflater::open() {
  if (zlib_) return true;
  if (!share_.resize(kInflateMemory)) return false;
  auto zlib = std::make_unique<z_stream>();
  if (::inflateInit2(zlib.get(), MAX_WBITS + kGzip) != Z_OK) return false;
  zlib_ = std::move(zlib);
  return reserve(expected());
}

// The length that the stream claims. It may lie, so the result is no more than it could become.
size_t Inflater::expected() const {
  if (from_.size() < kTrailer) return 0;
  size_t length = 0;
  for (size_t i = 1; i <= 4; ++i)
    length = length << 8 | static_cast<unsigned char>(from_[from_.size() - i]);
  return std::min({length, most_, from_.size() * kMostRatio});
}

// Both strings are held, and counted, while one is copied to the other.
bool Inflater::reserve(size_t bytes) {
  const size_t before = bytes_.empty() ? 0 : bytes_.capacity();
  if (bytes <= bytes_.capacity()) return true;
  if (!share_.resize(kInflateMemory + before + bytes)) return false;
  std::string larger;
  larger.reserve(bytes);
  larger += bytes_;
  bytes_.swap(larger);
  larger = std::string();
  return share_.resize(kInflateMemory + bytes_.capacity());
}

Inflater::State Inflater::keep(std::string_view bytes) {
  if (bytes.size() > most_ - bytes_.size()) return State::kTooLong;
  const size_t wanted = bytes_.size() + bytes.size();
  if (wanted > bytes_.capacity() && !reserve(std::max(wanted, std::min(2 * wanted, most_))))
    return State::kNoRoom;
  bytes_ += bytes;
  return State::kMore;
}

Inflater::State Inflater::step(size_t slice) {
  if (!open()) return State::kNoRoom;
  std::array<char, kScratch> out;
  const size_t read_to = at_ + std::min(slice, from_.size() - at_);
  const size_t make_to = bytes_.size() + slice;
  for (;;) {
    zlib_->next_in = as_zlib(from_.data() + at_);
    zlib_->avail_in = static_cast<uInt>(read_to - at_);
    zlib_->next_out = as_zlib(out.data());
    zlib_->avail_out = out.size();
    const int code = ::inflate(zlib_.get(), Z_NO_FLUSH);
    at_ = read_to - zlib_->avail_in;
    const size_t made = out.size() - zlib_->avail_out;
    if (const State state = keep({out.data(), made}); state != State::kMore) return state;
    if (code == Z_MEM_ERROR) return State::kNoRoom;
    const bool ended = code == Z_STREAM_END;
    if (!ended && code != Z_OK && code != Z_BUF_ERROR) return State::kBroken;
    if (at_ == from_.size() && ended) return State::kDone;
    if (at_ == from_.size() && made < out.size()) return State::kBroken;
    // RFC 1952: a stream may have several members, one behind the other.
    if (ended && ::inflateReset(zlib_.get()) != Z_OK) return State::kBroken;
    const bool starved = at_ == read_to && made < out.size();
    if (starved || bytes_.size() >= make_to) return State::kMore;
  }
}

std::string Inflater::take_bytes() {
  ::inflateEnd(zlib_.get());
  zlib_.reset();
  return std::exchange(bytes_, {});
}

Allowance::Share Inflater::take_share() {
  share_.resize(share_.bytes() - kInflateMemory);
  return std::move(share_);
}

std::optional<std::string> deflated(std::string_view bytes) {
  z_stream zlib{};
  if (::deflateInit2(&zlib, kFastest, Z_DEFLATED, kDeflateWindow + kGzip, kDeflateMemory,
                     Z_DEFAULT_STRATEGY) != Z_OK)
    return std::nullopt;
  std::array<char, kScratch> out;
  std::string text;
  text.reserve(bytes.size());
  zlib.next_in = as_zlib(bytes.data());
  zlib.avail_in = static_cast<uInt>(bytes.size());
  int code = Z_OK;
  bool is_shorter = true;
  while (code == Z_OK && is_shorter) {
    zlib.next_out = as_zlib(out.data());
    zlib.avail_out = out.size();
    code = ::deflate(&zlib, Z_FINISH);
    const size_t made = out.size() - zlib.avail_out;
    is_shorter = made < bytes.size() - text.size();
    if (is_shorter) text.append(out.data(), made);
  }
  ::deflateEnd(&zlib);
  if (code != Z_STREAM_END || !is_shorter) return std::nullopt;
  return text;
}

}  // namespace service
