#pragma once
// The small grammar of go-judge's requests: fields of its objects, paths of its files. Internal to
// request.cc. Pure; the bytes are untrusted.

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "service/http/request.h"

namespace service::go_judge {

inline constexpr int kDeepest = 6;  // request, cmd, a command, copyIn, a file, its fields

// Why a request is none; the first reason is kept.
class Complaint {
 public:
  explicit operator bool() const { return status_ != 0; }
  void add(std::string where, std::string_view what, int status = 400);
  Response response() const;

 private:
  int status_ = 0;
  std::string text_;
};

// Null is the same as absent, everywhere; a number that is absent is 0.
const nlohmann::json* find(const nlohmann::json& object, const char* name);
uint64_t number(const nlohmann::json& object, const char* name, const std::string& where,
                Complaint& complaint);
bool truth(const nlohmann::json& object, const char* name);
std::vector<std::string> texts(const nlohmann::json& object, const char* name,
                               const std::string& where, Complaint& complaint);

// A path of a client's, relative to the working directory: "a", "./a", "/w/a" and "/tmp/a" are the
// same there. Empty: it does not lie there.
std::string path_in_scratch(std::string_view path);

// The glob that matches this path and nothing else.
std::string glob_of(std::string_view path);

}  // namespace service::go_judge
