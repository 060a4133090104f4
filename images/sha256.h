#pragma once
// SHA-256 over bytes that come in pieces. 64 lower-case hexadecimal digits.

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "images/progress.h"
#include "sandbox/sys/result.h"

struct evp_md_ctx_st;

namespace images {

class Sha256 {
 public:
  Sha256();
  ~Sha256();
  Sha256(Sha256&&) noexcept;
  Sha256& operator=(Sha256&&) noexcept;
  void add(std::string_view bytes);
  std::string hex();  // once; nothing can be added afterwards

 private:
  struct Free {
    void operator()(evp_md_ctx_st* context) const;
  };
  std::unique_ptr<evp_md_ctx_st, Free> context_;
};

std::string sha256_of(std::string_view bytes);
// Digest of the whole file, regardless of its offset.
sys::Result<std::string> sha256_of_file(int file, const Watch& watch = {});
// "sha256:" and 64 lower-case hexadecimal digits.
bool is_sha256(std::string_view digest);

}  // namespace images
