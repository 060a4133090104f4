#include "cluster/link/upgrade.h"

#include <fmt/format.h>
#include <sys/random.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <nlohmann/json.hpp>
#include <optional>
#include <vector>

#include "cluster/wire/messages.h"
#include "runtime/values/json_text.h"
#include "runtime/values/utf8.h"
#include "service/http/handshake.h"
#include "service/http/request.h"

namespace cluster {

using sys::Error;
using sys::Result;

namespace {

using State = UpgradeAnswer::State;

constexpr std::string_view kPath = "/v1/pilots/join";
constexpr size_t kKeyBytes = 16;
constexpr size_t kLongestMessage = 500;
constexpr std::string_view kEndOfLine = "\r\n", kEndOfHead = "\r\n\r\n";

struct Head {
  int status = 0;
  std::vector<std::pair<std::string, std::string_view>> headers;  // names in lower case

  // The one header of this name; nothing when there is none, or more than one.
  std::optional<std::string_view> only(std::string_view name) const {
    std::optional<std::string_view> found;
    for (const auto& [header, value] : headers) {
      if (header != name) continue;
      if (found) return std::nullopt;
      found = value;
    }
    return found;
  }
  bool has(std::string_view name) const {
    return std::any_of(headers.begin(), headers.end(),
                       [name](const auto& header) { return header.first == name; });
  }
  // Is `word`, in lower case, in one of the lists of this name?
  bool lists(std::string_view name, std::string_view word) const;
};

std::string lower_case(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return lower;
}

bool Head::lists(std::string_view name, std::string_view word) const {
  for (const auto& [header, value] : headers) {
    if (header != name) continue;
    for (std::string_view left = value; !left.empty();) {
      const size_t end = std::min(left.find(','), left.size());
      if (lower_case(service::trimmed(left.substr(0, end))) == word) return true;
      left.remove_prefix(std::min(end + 1, left.size()));
    }
  }
  return false;
}

bool is_token(std::string_view name) {
  constexpr std::string_view kMarks = "!#$%&'*+-.^_`|~";  // RFC 9110, 5.6.2
  return !name.empty() && std::all_of(name.begin(), name.end(), [&](char c) {
    return runtime::is_alpha(c) || runtime::is_digit(c) || kMarks.find(c) != std::string_view::npos;
  });
}

// "HTTP/1.1 101 Switching Protocols"; 0: it is no such line.
int status_of(std::string_view line) {
  constexpr std::string_view kVersion = "HTTP/1.";
  constexpr size_t kNumber = kVersion.size() + 2, kDigits = 3;
  if (!line.starts_with(kVersion) || line.size() < kNumber + kDigits) return 0;
  const bool is_line = runtime::is_digit(line[kNumber - 2]) && line[kNumber - 1] == ' ' &&
                       (line.size() == kNumber + kDigits || line[kNumber + kDigits] == ' ');
  int status = 0;
  const char* const end = line.data() + kNumber + kDigits;
  const auto [last, error] = std::from_chars(line.data() + kNumber, end, status);
  constexpr int kLeast = 100;
  return is_line && error == std::errc() && last == end && status >= kLeast ? status : 0;
}

std::optional<Head> read_head(std::string_view head) {
  const size_t first = std::min(head.find(kEndOfLine), head.size());
  Head read;
  read.status = status_of(head.substr(0, first));
  if (read.status == 0) return std::nullopt;
  head.remove_prefix(std::min(first + kEndOfLine.size(), head.size()));
  while (!head.empty()) {
    const std::string_view line = head.substr(0, head.find(kEndOfLine));
    head.remove_prefix(std::min(line.size() + kEndOfLine.size(), head.size()));
    const size_t colon = line.find(':');
    if (colon == std::string_view::npos || !is_token(line.substr(0, colon))) return std::nullopt;
    read.headers.emplace_back(lower_case(line.substr(0, colon)),
                              service::trimmed(line.substr(colon + 1)));
  }
  return read;
}

// Why a 101 opens no WebSocket of ours; empty: it opens one.
std::string objection_to(const Head& head, std::string_view key) {
  if (!head.lists("upgrade", "websocket") || !head.lists("connection", "upgrade"))
    return "its 101 is none of a WebSocket";
  if (head.only("sec-websocket-accept") != service::accept_of(key))
    return "its Sec-WebSocket-Accept does not belong to what was asked";
  if (head.has("sec-websocket-extensions")) return "it uses extensions that nobody asked for";
  if (head.only("sec-websocket-protocol") != kSubprotocol)
    return fmt::format("it does not speak the protocol {}", kSubprotocol);
  return {};
}

struct Body {
  std::string bytes;
  bool is_whole = false;  // or there is enough of it
};

// RFC 9112, 7.1; as far as it is in order.
Body read_chunks(std::string_view bytes) {
  Body body;
  while (body.bytes.size() < kLongestAnswerBody) {
    const size_t line = bytes.find(kEndOfLine);
    if (line == std::string_view::npos) return body;
    size_t size = 0;
    constexpr int kHex = 16;
    const auto [last, error] = std::from_chars(bytes.data(), bytes.data() + line, size, kHex);
    const bool is_size = error == std::errc() && (last == bytes.data() + line || *last == ';');
    if (!is_size || size == 0) break;
    bytes.remove_prefix(line + kEndOfLine.size());
    body.bytes += bytes.substr(0, std::min(size, kLongestAnswerBody - body.bytes.size()));
    if (bytes.size() < size || bytes.size() - size < kEndOfLine.size()) {
      body.is_whole = body.bytes.size() == kLongestAnswerBody;
      return body;
    }
    bytes.remove_prefix(size + kEndOfLine.size());
  }
  body.is_whole = true;
  return body;
}

Body read_body(const Head& head, std::string_view bytes) {
  if (head.lists("transfer-encoding", "chunked")) return read_chunks(bytes);
  size_t size = kLongestAnswerBody;  // or to the end of the connection
  if (const auto length = head.only("content-length")) {
    size_t said = 0;
    const char* const end = length->data() + length->size();
    const auto [last, error] = std::from_chars(length->data(), end, said);
    if (error == std::errc() && last == end) size = std::min(size, said);
  }
  return {std::string(bytes.substr(0, size)), bytes.size() >= size};
}

// One line that a terminal shows as it is.
std::string printable(std::string_view text) {
  const std::string repaired = runtime::repaired_utf8(text);
  std::string shown;
  for (std::string_view rest = runtime::utf8_head(repaired, kLongestMessage); !rest.empty();) {
    const size_t unseen = runtime::unseen_length(rest);
    if (unseen == 0) shown += rest.front();
    if (unseen != 0 && !shown.ends_with(' ')) shown += ' ';
    rest.remove_prefix(std::max(unseen, size_t{1}));
  }
  return std::string(service::trimmed(shown));
}

// {"error": {"message": ...}}; empty: it says nothing that we understand.
std::string message_in(const std::string& body) {
  const auto read = nlohmann::json::parse(body, nullptr, /*allow_exceptions=*/false);
  if (!read.is_object()) return {};
  const auto error = read.find("error");
  if (error == read.end() || !error->is_object()) return {};
  const auto message = error->find("message");
  if (message == error->end() || !message->is_string()) return {};
  return printable(message->get_ref<const std::string&>());
}

UpgradeAnswer refused(std::string why) { return {State::kRefused, 0, std::move(why)}; }

}  // namespace

std::string new_upgrade_key() {
  std::array<char, kKeyBytes> random;
  VERIFY(::getrandom(random.data(), random.size(), 0) == static_cast<ssize_t>(random.size()));
  std::string key;
  runtime::append_base64({random.data(), random.size()}, key);
  return key;
}

Result<std::string> upgrade_request(const JoinUrl& to, std::string_view token,
                                    std::string_view key) {
  const bool is_visible =
      std::all_of(token.begin(), token.end(), [](char c) { return c > ' ' && c < '\x7f'; });
  if (!is_visible)
    return Error::because("the token: expected visible characters of ASCII, and no blanks");
  return fmt::format(
      "GET {}{} HTTP/1.1\r\nHost: {}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
      "Sec-WebSocket-Key: {}\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Protocol: {}\r\n"
      "{}\r\n",
      to.prefix, kPath, to.authority(), key, kSubprotocol,
      token.empty() ? "" : fmt::format("Authorization: Bearer {}\r\n", token));
}

UpgradeAnswer read_upgrade_answer(std::string_view bytes, bool is_all, std::string_view key) {
  const size_t end = bytes.substr(0, kLongestAnswerHead).find(kEndOfHead);
  if (end == std::string_view::npos) {
    if (bytes.size() >= kLongestAnswerHead)
      return refused("the router's answer is too long, or no HTTP");
    if (!is_all) return {};
    return refused(bytes.empty() ? "the router has closed the connection without an answer"
                                 : "the router's answer has ended too early, or is no HTTP");
  }
  const std::optional<Head> head = read_head(bytes.substr(0, end));
  if (!head) return refused("the router's answer is malformed, or no HTTP");
  const size_t behind = end + kEndOfHead.size();
  constexpr int kSwitchingProtocols = 101;
  if (head->status == kSwitchingProtocols) {
    const std::string why = objection_to(*head, key);
    return why.empty() ? UpgradeAnswer{State::kOpen, behind, {}}
                       : refused("the router cannot be joined: " + why);
  }
  const Body body = read_body(*head, bytes.substr(behind));
  if (!body.is_whole && !is_all) return {};
  const std::string message = message_in(body.bytes);
  return refused(fmt::format("the router answers {} {}{}{}", head->status,
                             service::reason_of(head->status), message.empty() ? "" : ": ",
                             message));
}

}  // namespace cluster
