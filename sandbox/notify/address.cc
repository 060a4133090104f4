#include "sandbox/notify/address.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <cstddef>
#include <cstring>

namespace sandbox {
namespace {

template <typename T>
bool copy_into(std::string_view bytes, T* address) {
  if (bytes.size() < sizeof *address) return false;
  std::memcpy(address, bytes.data(), sizeof *address);
  return true;
}

std::string unix_text(std::string_view bytes) {
  std::string_view name = bytes.substr(offsetof(sockaddr_un, sun_path));
  if (name.empty()) return "unix:";
  if (name.front() == '\0') return "unix:@" + std::string(name.substr(1));
  return "unix:" + std::string(name.substr(0, name.find('\0')));
}

}  // namespace

std::string address_text(std::string_view bytes) {
  sa_family_t family = AF_UNSPEC;
  if (bytes.size() < sizeof family) return "no address";
  std::memcpy(&family, bytes.data(), sizeof family);
  char text[INET6_ADDRSTRLEN] = "";
  sockaddr_in v4;
  sockaddr_in6 v6;
  if (family == AF_UNIX) return unix_text(bytes);
  if (family == AF_INET && copy_into(bytes, &v4)) {
    ::inet_ntop(AF_INET, &v4.sin_addr, text, sizeof text);
    return std::string(text) + ":" + std::to_string(ntohs(v4.sin_port));
  }
  if (family == AF_INET6 && copy_into(bytes, &v6)) {
    ::inet_ntop(AF_INET6, &v6.sin6_addr, text, sizeof text);
    return "[" + std::string(text) + "]:" + std::to_string(ntohs(v6.sin6_port));
  }
  return "family " + std::to_string(family);
}

}  // namespace sandbox
