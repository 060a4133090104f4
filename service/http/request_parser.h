#pragma once
// RequestParser: bytes of a connection in, one request at a time out, bounded. The only place that
// knows llhttp. No I/O; the connection feeds it and asks for the outcome.

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "service/http/request.h"

struct llhttp__internal_s;

namespace service {

struct ParserLimits {
  size_t head = size_t{64} << 10;   // request line and headers, all bytes
  size_t target = size_t{8} << 10;  // of the request line
  size_t headers = 100;             // how many
  size_t body = size_t{64} << 20;   // without what chunks add
};

class RequestParser {
 public:
  enum class State : uint8_t { kHead, kBody, kComplete, kBroken };

  explicit RequestParser(ParserLimits limits);
  ~RequestParser();
  RequestParser(const RequestParser&) = delete;
  RequestParser& operator=(const RequestParser&) = delete;

  // Takes bytes up to the end of the request; what is not taken belongs to the next one. Takes
  // nothing once it is complete or broken.
  size_t feed(std::string_view bytes);

  State state() const { return state_; }
  bool untouched() const { return state_ == State::kHead && head_bytes_ == 0; }
  // The head is there, and the client waits for leave to send the body. True once.
  bool take_expectation();
  size_t held_bytes() const { return request_.body.empty() ? 0 : request_.body.capacity(); }

  const Request& request() const { return request_; }  // as far as it has come
  Request take();            // of kComplete; the parser is ready for the next one
  Response refusal() const;  // of kBroken: why

 private:
  struct Callbacks;
  void begin();
  int refuse(int status, std::string_view code, std::string_view message);
  int on_target(std::string_view bytes);
  int on_field(std::string_view bytes);
  int on_value(std::string_view bytes);
  int on_head_complete();
  int on_body(std::string_view bytes);
  int check_head();
  void refuse_syntax();

  ParserLimits limits_;
  std::unique_ptr<llhttp__internal_s> llhttp_;
  State state_ = State::kHead;
  Request request_;
  std::string target_, field_, value_;
  size_t head_bytes_ = 0;
  bool in_value_ = false, expects_ = false, in_trailer_ = false;
  std::optional<Response> refusal_;
};

}  // namespace service
