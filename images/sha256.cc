#include "images/sha256.h"

#include <openssl/evp.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <vector>

namespace images {

using sys::Error;
using sys::Result;

namespace {

constexpr size_t kPiece = size_t{256} << 10;

}  // namespace

void Sha256::Free::operator()(evp_md_ctx_st* context) const { EVP_MD_CTX_free(context); }

Sha256::Sha256() : context_(EVP_MD_CTX_new()) {
  VERIFY(context_ && EVP_DigestInit_ex(context_.get(), EVP_sha256(), nullptr) == 1);
}
Sha256::~Sha256() = default;
Sha256::Sha256(Sha256&&) noexcept = default;
Sha256& Sha256::operator=(Sha256&&) noexcept = default;

void Sha256::add(std::string_view bytes) {
  VERIFY(EVP_DigestUpdate(context_.get(), bytes.data(), bytes.size()) == 1);
}

std::string Sha256::hex() {
  unsigned char digest[EVP_MAX_MD_SIZE];
  unsigned size = 0;
  VERIFY(EVP_DigestFinal_ex(context_.get(), digest, &size) == 1);
  std::string text;
  for (unsigned i = 0; i < size; ++i) {
    constexpr char kDigits[] = "0123456789abcdef";
    text += kDigits[digest[i] >> 4];
    text += kDigits[digest[i] & 15];
  }
  return text;
}

std::string sha256_of(std::string_view bytes) {
  Sha256 digest;
  digest.add(bytes);
  return digest.hex();
}

Result<std::string> sha256_of_file(int file, const Watch& watch) {
  struct stat info {};
  if (::fstat(file, &info) < 0) return Error::from_errno("stat");
  Sha256 digest;
  std::vector<char> piece(kPiece);
  for (uint64_t at = 0;;) {
    const ssize_t n = ::pread(file, piece.data(), piece.size(), static_cast<off_t>(at));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return Error::from_errno("read");
    if (n == 0) return digest.hex();
    digest.add({piece.data(), static_cast<size_t>(n)});
    at += static_cast<uint64_t>(n);
    TRY(report(watch, {"checking", at, static_cast<uint64_t>(info.st_size)}));
  }
}

bool is_sha256(std::string_view digest) {
  constexpr std::string_view kScheme = "sha256:";
  return digest.size() == kScheme.size() + 64 && digest.starts_with(kScheme) &&
         std::all_of(digest.begin() + kScheme.size(), digest.end(),
                     [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); });
}

}  // namespace images
