#pragma once
// Gives the calling thread the locale C.UTF-8 while it exists: libarchive converts names by it.

#include <locale.h>

namespace images {

// Read from the disk when it is first called; a process that gives up its files calls it before.
// Null: the host has no such locale.
inline locale_t utf8_locale() {
  static const locale_t utf8 = ::newlocale(LC_CTYPE_MASK, "C.UTF-8", nullptr);
  return utf8;
}

class Utf8Locale {
 public:
  Utf8Locale() : before_(utf8_locale() ? ::uselocale(utf8_locale()) : nullptr) {}
  Utf8Locale(const Utf8Locale&) = delete;
  ~Utf8Locale() {
    if (before_) ::uselocale(before_);
  }

 private:
  locale_t before_;
};

}  // namespace images
