#pragma once
// ResponseReader: bytes of a connection in, one answer to one request out, bounded. For who passes
// an answer on: its body is taken in pieces, as it comes. No I/O. What comes is untrusted.

#include <memory>
#include <string>
#include <string_view>

#include "service/http/request.h"

struct llhttp__internal_s;

namespace service {

class ResponseReader {
 public:
  // kBody: its head is there. kBroken: it is no answer of HTTP/1.1, or it breaks off.
  enum class State : uint8_t { kHead, kBody, kComplete, kBroken };
  static constexpr size_t kLongestHead = size_t{64} << 10;

  ResponseReader();
  ~ResponseReader();
  ResponseReader(const ResponseReader&) = delete;
  ResponseReader& operator=(const ResponseReader&) = delete;

  void feed(std::string_view bytes);  // nothing is taken behind its end
  void end();                         // no more will come

  State state() const { return state_; }
  int status() const { return status_; }               // once the head is there
  const Headers& headers() const { return headers_; }  // the same; lower-case names
  std::string take_body();                             // what has come since the last call

 private:
  struct Callbacks;
  int take(std::string& into, std::string_view bytes);
  int on_field(std::string_view bytes);
  int on_value(std::string_view bytes);
  int on_head_complete();
  bool keep_header();

  std::unique_ptr<llhttp__internal_s> llhttp_;
  State state_ = State::kHead;
  int status_ = 0;
  Headers headers_;
  std::string field_, value_, body_;
  size_t head_bytes_ = 0;
  bool in_value_ = false;
};

}  // namespace service
