#include "service/http/response_reader.h"

#include <llhttp.h>

#include <utility>

namespace service {

// The functions that llhttp calls. Anything but 0 ends the parsing.
struct ResponseReader::Callbacks {
  static ResponseReader& self(llhttp_t* llhttp) {
    return *static_cast<ResponseReader*>(llhttp->data);
  }
  static llhttp_settings_t make() {
    llhttp_settings_t settings;
    llhttp_settings_init(&settings);
    settings.on_header_field = [](llhttp_t* llhttp, const char* at, size_t size) {
      return self(llhttp).on_field({at, size});
    };
    settings.on_header_value = [](llhttp_t* llhttp, const char* at, size_t size) {
      return self(llhttp).on_value({at, size});
    };
    settings.on_body = [](llhttp_t* llhttp, const char* at, size_t size) {
      self(llhttp).body_.append(at, size);
      return 0;
    };
    settings.on_headers_complete = [](llhttp_t* llhttp) { return self(llhttp).on_head_complete(); };
    settings.on_message_complete = [](llhttp_t* llhttp) {
      self(llhttp).state_ = State::kComplete;
      return static_cast<int>(HPE_PAUSED);
    };
    return settings;
  }
};

ResponseReader::ResponseReader() : llhttp_(std::make_unique<llhttp__internal_s>()) {
  static const llhttp_settings_t kSettings = Callbacks::make();
  llhttp_init(llhttp_.get(), HTTP_RESPONSE, &kSettings);
  llhttp_->data = this;
}

ResponseReader::~ResponseReader() = default;

void ResponseReader::feed(std::string_view bytes) {
  if (state_ == State::kComplete || state_ == State::kBroken) return;
  const bool was_head = state_ == State::kHead;
  const llhttp_errno_t error = llhttp_execute(llhttp_.get(), bytes.data(), bytes.size());
  if (error != HPE_OK && state_ != State::kComplete) state_ = State::kBroken;
  // Also what no callback sees, such as empty lines.
  if (was_head && state_ == State::kHead && (head_bytes_ += bytes.size()) > kLongestHead)
    state_ = State::kBroken;
}

void ResponseReader::end() {
  if (state_ == State::kComplete || state_ == State::kBroken) return;
  // A body without a length ends with the connection, and llhttp says so.
  (void)llhttp_finish(llhttp_.get());
  if (state_ != State::kComplete) state_ = State::kBroken;
}

std::string ResponseReader::take_body() { return std::exchange(body_, {}); }

int ResponseReader::take(std::string& into, std::string_view bytes) {
  if (field_.size() + value_.size() + bytes.size() > kLongestHead) return HPE_USER;
  into += bytes;
  return 0;
}

// Also of trailers, which are dropped.
int ResponseReader::on_field(std::string_view bytes) {
  if (std::exchange(in_value_, false) && !keep_header()) return HPE_USER;
  return take(field_, bytes);
}

int ResponseReader::on_value(std::string_view bytes) {
  in_value_ = true;
  return take(value_, bytes);
}

// False: it has no name as RFC 9110 has them (5.1). llhttp lets blanks pass.
bool ResponseReader::keep_header() {
  std::string name = std::exchange(field_, {}), value = std::exchange(value_, {});
  if (state_ != State::kHead) return true;
  if (name.find_first_of(" \t") != name.npos) return false;
  for (char& c : name) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  headers_.emplace_back(std::move(name), std::string(trimmed(value)));
  return true;
}

// What is interim (1xx) was not asked for.
int ResponseReader::on_head_complete() {
  if (std::exchange(in_value_, false) && !keep_header()) return HPE_USER;
  status_ = llhttp_->status_code;
  if (status_ < 200 || status_ > 599) return HPE_USER;
  state_ = State::kBody;
  return 0;
}

}  // namespace service
