#pragma once
// A cell speaks to its kernel through its standard output, in pieces that each are written at
// once: a byte 0x1E, a word that only they know, ":", a "+" where more pieces follow, the length of
// this one, ":", and the bytes. All of them are a JSON object. Markers takes it out of what is
// printed. Pure.

#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>

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
  // There will be no more: what only looked like a piece is printed, and a piece that did not come
  // as a whole is dropped.
  void end();

 private:
  enum class Seen { kText, kPart, kWhole };
  // Whether held_ has a piece at `at`: all of it, or the bytes that one begins with.
  Seen look(size_t at);
  void hear(std::string_view piece);
  void print(size_t end);  // from taken_ on

  size_t said_at_ = 0, said_size_ = 0;  // of the bytes of a piece, from its first one on
  bool more_follow_ = false;

  const std::string start_;
  const Sink sink_;
  std::string held_, said_;  // said_: the pieces before
  size_t taken_ = 0;         // of its front: printed or said; dropped once for all that came
};

// Text that waits to be taken, from its front, in pieces.
class Waiting {
 public:
  bool is_empty() const { return at_ == text_.size(); }
  void put(std::string text) {
    text_.erase(0, std::exchange(at_, 0));
    text_.empty() ? text_.swap(text) : static_cast<void>(text_ += text);
  }
  // Until something is put.
  std::string_view take(size_t most) {
    const std::string_view piece = std::string_view(text_).substr(at_, most);
    at_ += piece.size();
    return piece;
  }

 private:
  std::string text_;
  size_t at_ = 0;
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
