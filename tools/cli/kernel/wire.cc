#include "tools/cli/kernel/wire.h"

#include <fmt/format.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>

#include <algorithm>
#include <array>

#include "sandbox/sys/result.h"

namespace cli {

using nlohmann::json;
using service::jupyter::Message;

namespace {

constexpr std::string_view kDelimiter = "<IDS|MSG>";
constexpr size_t kSigned = 4;  // header, parent, metadata, content

std::string written(const json& object) {
  return object.dump(-1, ' ', false, json::error_handler_t::replace);
}

bool is_same(std::string_view one, std::string_view other) {
  return one.size() == other.size() && CRYPTO_memcmp(one.data(), other.data(), one.size()) == 0;
}

}  // namespace

std::string signature_of(std::string_view key, const std::vector<std::string_view>& parts) {
  std::string text;
  for (const std::string_view part : parts) text += part;
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest;
  unsigned size = 0;
  const auto* bytes = reinterpret_cast<const unsigned char*>(text.data());
  VERIFY(HMAC(EVP_sha256(), key.data(), static_cast<int>(key.size()), bytes, text.size(),
              digest.data(), &size) != nullptr);
  std::string hexadecimal;
  for (unsigned i = 0; i < size; ++i) hexadecimal += fmt::format("{:02x}", digest[i]);
  return hexadecimal;
}

sys::Result<Message> read_message(const Frames& frames, std::string_view key) {
  const auto delimiter = std::ranges::find(frames, kDelimiter);
  if (static_cast<size_t>(frames.end() - delimiter) < kSigned + 2)
    return sys::Error::because("a message has six parts behind its identities");
  const std::vector<std::string_view> parts(delimiter + 2, delimiter + 2 + kSigned);
  if (!is_same(signature_of(key, parts), *(delimiter + 1)))
    return sys::Error::because("the signature of a message is wrong");
  Message made;
  made.identities.assign(frames.begin(), delimiter);
  made.header = json::parse(parts[0], nullptr, false);
  made.parent = json::parse(parts[1], nullptr, false);
  made.content = json::parse(parts[3], nullptr, false);
  if (!made.header.is_object() || !made.parent.is_object() || !made.content.is_object())
    return sys::Error::because("a part of a message is no object of JSON");
  if (made.type().empty()) return sys::Error::because("a message has no msg_type");
  return made;
}

Frames write_message(const Message& message, std::string_view key) {
  Frames frames(message.identities);
  const std::array<std::string, kSigned> parts{written(message.header), written(message.parent),
                                               "{}", written(message.content)};
  frames.emplace_back(kDelimiter);
  frames.push_back(signature_of(key, {parts.begin(), parts.end()}));
  frames.insert(frames.end(), parts.begin(), parts.end());
  return frames;
}

}  // namespace cli
