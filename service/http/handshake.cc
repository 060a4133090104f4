#include "service/http/handshake.h"

#include <openssl/evp.h>

#include <algorithm>
#include <array>
#include <vector>

#include "runtime/values/json_text.h"
#include "sandbox/sys/result.h"

namespace service {

namespace {

constexpr std::string_view kGuid = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";
constexpr std::string_view kTokenPrefix = "zygo.token.";
constexpr size_t kKeyBytes = 16;

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

bool same(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](char x, char y) { return lower(x) == lower(y); });
}

// The words of all lists of this name, in their order.
std::vector<std::string_view> words_of(const Request& request, std::string_view name) {
  std::vector<std::string_view> words;
  for (const auto& [header, value] : request.headers) {
    if (header != name) continue;
    for (std::string_view left = value; !left.empty();) {
      const size_t end = std::min(left.find(','), left.size());
      words.push_back(trimmed(left.substr(0, end)));
      left.remove_prefix(std::min(end + 1, left.size()));
    }
  }
  return words;
}

// Is `word` in one of the lists of this name?
bool lists(const Request& request, std::string_view name, std::string_view word) {
  const std::vector<std::string_view> words = words_of(request, name);
  return std::any_of(words.begin(), words.end(),
                     [word](std::string_view each) { return same(each, word); });
}

// The one header of this name; null when there is none, or more than one.
const std::string* only(const Request& request, std::string_view name) {
  const auto count = std::count_if(request.headers.begin(), request.headers.end(),
                                   [name](const auto& header) { return header.first == name; });
  return count == 1 ? request.header(name) : nullptr;
}

Response upgrade_required(std::string_view message) {
  Response response = error_response(426, "websocket", message);
  response.headers = {
      {"Upgrade", "websocket"}, {"Connection", "Upgrade"}, {"Sec-WebSocket-Version", "13"}};
  return response;
}

}  // namespace

std::string accept_of(std::string_view key) {
  const std::string text = std::string(key) + std::string(kGuid);
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest;
  unsigned size = 0;
  VERIFY(EVP_Digest(text.data(), text.size(), digest.data(), &size, EVP_sha1(), nullptr) == 1);
  std::string encoded;
  runtime::append_base64({reinterpret_cast<const char*>(digest.data()), size}, encoded);
  return encoded;
}

std::variant<Headers, Response> shake_hands(const Request& request, std::string_view protocol) {
  if (request.http_1_0 || !lists(request, "upgrade", "websocket") ||
      !lists(request, "connection", "upgrade"))
    return upgrade_required("this path is spoken to over a WebSocket");
  const std::string* version = only(request, "sec-websocket-version");
  if (!version || *version != "13")
    return upgrade_required("Sec-WebSocket-Version: only 13 is spoken here");
  const std::string* key = only(request, "sec-websocket-key");
  std::string nonce;
  if (!key || !runtime::append_from_base64(*key, nonce) || nonce.size() != kKeyBytes)
    return error_response(400, "websocket", "Sec-WebSocket-Key: expected 16 bytes in base64");
  if (!request.body.empty()) return error_response(400, "websocket", "a handshake has no body");
  Headers headers = {{"Upgrade", "websocket"},
                     {"Connection", "Upgrade"},
                     {"Sec-WebSocket-Accept", accept_of(*key)}};
  if (!protocol.empty() && lists(request, "sec-websocket-protocol", protocol))
    headers.emplace_back("Sec-WebSocket-Protocol", protocol);
  return headers;
}

std::optional<std::string> offered_token(const Request& request) {
  for (const std::string_view word : words_of(request, "sec-websocket-protocol")) {
    if (!word.starts_with(kTokenPrefix)) continue;
    std::string encoded(word.substr(kTokenPrefix.size()));
    std::replace(encoded.begin(), encoded.end(), '-', '+');
    std::replace(encoded.begin(), encoded.end(), '_', '/');
    encoded.resize((encoded.size() + 3) / 4 * 4, '=');
    std::string token;
    return runtime::append_from_base64(encoded, token) ? token : std::string();
  }
  return std::nullopt;
}

}  // namespace service
