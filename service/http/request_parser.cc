#include "service/http/request_parser.h"

#include <fmt/format.h>
#include <llhttp.h>

#include <algorithm>
#include <charconv>

namespace service {

namespace {

Method method_of(uint8_t number) {
  switch (number) {
    case HTTP_GET:
      return Method::kGet;
    case HTTP_HEAD:
      return Method::kHead;
    case HTTP_POST:
      return Method::kPost;
    case HTTP_PUT:
      return Method::kPut;
    case HTTP_DELETE:
      return Method::kDelete;
    case HTTP_OPTIONS:
      return Method::kOptions;
    default:
      return Method::kOther;
  }
}

std::string lower(std::string text) {
  for (char& c : text) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return text;
}

// llhttp looks at the last coding alone, and gives the bytes of the others ("gzip, chunked") as
// they are.
bool has_only_chunked(const Headers& headers) {
  size_t codings = 0;
  for (const auto& [name, value] : headers) {
    if (name != "transfer-encoding") continue;
    ++codings;
    if (lower(value) != "chunked") return false;
  }
  return codings <= 1;
}

// "http://host:80/path?query", which a proxy gets (RFC 9112, 3.2.2), becomes its path, and its
// authority is the Host, whatever the header says. The authority; empty: it is a path already.
std::string take_authority(std::string& target) {
  const size_t scheme = std::string_view("http://").size();
  if (lower(target.substr(0, scheme)) != "http://") return "";
  const size_t end = std::min(target.find_first_of("/?#", scheme), target.size());
  std::string authority = target.substr(scheme, end - scheme);
  target.erase(0, end);
  if (!target.starts_with('/')) target = "/" + target;
  return authority;
}

}  // namespace

// The functions that llhttp calls. Anything but 0 ends the parsing; HPE_PAUSED may be resumed.
struct RequestParser::Callbacks {
  static RequestParser& self(llhttp_t* llhttp) {
    return *static_cast<RequestParser*>(llhttp->data);
  }
  template <int (RequestParser::*member)(std::string_view)>
  static int data(llhttp_t* llhttp, const char* at, size_t size) {
    return (self(llhttp).*member)({at, size});
  }
  static llhttp_settings_t make() {
    llhttp_settings_t settings;
    llhttp_settings_init(&settings);
    settings.on_url = data<&RequestParser::on_target>;
    settings.on_header_field = data<&RequestParser::on_field>;
    settings.on_header_value = data<&RequestParser::on_value>;
    settings.on_body = data<&RequestParser::on_body>;
    settings.on_headers_complete = [](llhttp_t* llhttp) { return self(llhttp).on_head_complete(); };
    settings.on_message_complete = [](llhttp_t* llhttp) {
      self(llhttp).state_ = State::kComplete;
      return static_cast<int>(HPE_PAUSED);
    };
    return settings;
  }
};

RequestParser::RequestParser(ParserLimits limits)
    : limits_(limits), llhttp_(std::make_unique<llhttp__internal_s>()) {
  begin();
}

RequestParser::~RequestParser() = default;

void RequestParser::begin() {
  static const llhttp_settings_t kSettings = Callbacks::make();
  llhttp_init(llhttp_.get(), HTTP_REQUEST, &kSettings);
  llhttp_->data = this;
  state_ = State::kHead;
  request_ = {};
  target_.clear();
  field_.clear();
  value_.clear();
  head_bytes_ = 0;
  in_value_ = expects_ = in_trailer_ = false;
}

size_t RequestParser::feed(std::string_view bytes) {
  if (state_ == State::kComplete || state_ == State::kBroken || bytes.empty()) return 0;
  const bool was_head = state_ == State::kHead;
  const llhttp_errno_t error = llhttp_execute(llhttp_.get(), bytes.data(), bytes.size());
  size_t taken = bytes.size();
  if (error != HPE_OK) {
    const char* at = llhttp_get_error_pos(llhttp_.get());
    taken = at == nullptr ? bytes.size()
                          : std::min<size_t>(bytes.size(), static_cast<size_t>(at - bytes.data()));
    if (state_ != State::kComplete && state_ != State::kBroken) refuse_syntax();
    if (state_ == State::kBroken) taken = bytes.size();
  }
  // Also what no callback sees, such as empty lines before a request.
  if (was_head && state_ == State::kHead) {
    head_bytes_ += taken;
    if (head_bytes_ > limits_.head)
      refuse(431, "head_too_large",
             fmt::format("request line and headers are longer than {} bytes", limits_.head));
  }
  return taken;
}

int RequestParser::refuse(int status, std::string_view code, std::string_view message) {
  state_ = State::kBroken;
  refusal_ = error_response(status, code, message);
  refusal_->close = true;
  return -1;
}

void RequestParser::refuse_syntax() {
  const llhttp_errno_t error = llhttp_get_errno(llhttp_.get());
  if (error == HPE_INVALID_VERSION || error == HPE_PAUSED_H2_UPGRADE) {
    refuse(505, "version", "only HTTP/1.1 and HTTP/1.0 are spoken here");
    return;
  }
  const char* why = llhttp_get_error_reason(llhttp_.get());
  refuse(400, "bad_request",
         fmt::format("not HTTP/1.1: {}", why == nullptr || *why == '\0' ? "malformed" : why));
}

int RequestParser::on_target(std::string_view bytes) {
  if (target_.size() + bytes.size() > limits_.target)
    return refuse(414, "target_too_long",
                  fmt::format("the target is longer than {} bytes", limits_.target));
  target_ += bytes;
  return 0;
}

int RequestParser::on_field(std::string_view bytes) {
  if (in_value_) {
    if (!in_trailer_) request_.headers.emplace_back(lower(std::move(field_)), std::move(value_));
    field_.clear();
    value_.clear();
    in_value_ = false;
    if (request_.headers.size() >= limits_.headers)
      return refuse(431, "too_many_headers",
                    fmt::format("there are more than {} headers", limits_.headers));
  }
  if (field_.size() + bytes.size() > limits_.head)
    return refuse(431, "head_too_large", "a header's name is too long");
  field_ += bytes;
  return 0;
}

int RequestParser::on_value(std::string_view bytes) {
  in_value_ = true;
  if (value_.size() + bytes.size() > limits_.head)
    return refuse(431, "head_too_large", "a header's value is too long");
  value_ += bytes;
  return 0;
}

int RequestParser::on_head_complete() {
  if (in_value_ || !field_.empty())
    request_.headers.emplace_back(lower(std::move(field_)), std::move(value_));
  field_.clear();
  value_.clear();
  in_value_ = false;
  in_trailer_ = true;
  llhttp_->upgrade = 0;  // asked for or not, it stays HTTP/1.1
  return check_head();
}

int RequestParser::check_head() {
  if (llhttp_->http_major != 1)
    return refuse(505, "version", "only HTTP/1.1 and HTTP/1.0 are spoken here");
  request_.method = method_of(llhttp_->method);
  request_.http_1_0 = llhttp_->http_minor == 0;
  request_.keep_alive = llhttp_should_keep_alive(llhttp_.get()) != 0;
  const std::string authority = take_authority(target_);
  if (!read_target(target_, request_))
    return refuse(400, "bad_target", "the target is not a path in percent-encoded UTF-8");
  const auto hosts = std::count_if(request_.headers.begin(), request_.headers.end(),
                                   [](const auto& header) { return header.first == "host"; });
  if (hosts > 1 || (hosts == 0 && !request_.http_1_0))
    return refuse(400, "bad_host", "expected exactly one Host header");
  if (!authority.empty()) {
    std::erase_if(request_.headers, [](const auto& header) { return header.first == "host"; });
    request_.headers.emplace_back("host", authority);
  }
  const bool chunked = (llhttp_->flags & F_CHUNKED) != 0;
  if (!has_only_chunked(request_.headers))
    return refuse(501, "transfer_encoding", "Transfer-Encoding: only chunked is understood");
  if (!chunked && llhttp_->content_length > limits_.body)
    return refuse(413, "body_too_large",
                  fmt::format("the body has {} bytes; at most {} are taken",
                              llhttp_->content_length, limits_.body));
  if (const std::string* expect = request_.header("expect"); expect && !request_.http_1_0) {
    if (lower(*expect) != "100-continue")
      return refuse(417, "expectation", "Expect: only 100-continue is understood");
    expects_ = chunked || llhttp_->content_length > 0;
  }
  state_ = State::kBody;
  return 0;
}

int RequestParser::on_body(std::string_view bytes) {
  if (bytes.size() > limits_.body - request_.body.size())
    return refuse(413, "body_too_large",
                  fmt::format("the body is longer than {} bytes", limits_.body));
  // Twice as much each time, but not more than it will be: it is counted as it is held.
  std::string& body = request_.body;
  const size_t wanted = body.size() + bytes.size();
  if (wanted > body.capacity()) {
    size_t most = limits_.body;
    if (const std::string* length = request_.header("content-length"))
      std::from_chars(length->data(), length->data() + length->size(), most);
    std::string larger;  // a string that has bytes would at least double
    larger.reserve(std::max(wanted, std::min<size_t>(2 * body.capacity(), most)));
    larger += body;
    body.swap(larger);
  }
  body += bytes;
  return 0;
}

bool RequestParser::take_expectation() {
  return std::exchange(expects_, false) && state_ == State::kBody && request_.body.empty();
}

Request RequestParser::take() {
  Request taken = std::move(request_);
  begin();
  return taken;
}

Response RequestParser::refusal() const { return *refusal_; }

}  // namespace service
