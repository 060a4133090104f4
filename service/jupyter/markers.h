#pragma once
// What a cell says to its kernel travels in its standard output: a byte 0x1E, a word that only they
// know, the length of a JSON object, and that object. Markers takes it out of what is printed.
// Pure.

#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace service::jupyter {

class Markers {
 public:
  struct Sink {
    std::function<void(std::string)> printed;  // whole characters of UTF-8, broken ones replaced
    std::function<void(nlohmann::json)> said;  // an object
  };
  Markers(std::string word, Sink sink)
      : start_('\x1e' + std::move(word) + ':'), sink_(std::move(sink)) {}

  void take(std::string_view bytes);
  void end();  // there will be no more: what was held back is printed

 private:
  enum class Seen { kText, kPart, kWhole };
  // Whether held_ has a marker at `at`: all of it, or the bytes that one begins with.
  Seen look(size_t at);
  void print(size_t end);  // from taken_ on

  size_t said_at_ = 0, said_size_ = 0;  // of the marker's object, from its first byte on

  const std::string start_;
  const Sink sink_;
  std::string held_;
  size_t taken_ = 0;  // of its front: printed or said; dropped once for all that came
};

// Text in pieces that may end within a character.
class Characters {
 public:
  std::string take(std::string_view bytes);
  std::string end();

 private:
  std::string held_;
};

}  // namespace service::jupyter
