#pragma once
// Gives the calling thread the locale C.UTF-8 while it exists: libarchive converts names by it.

#include <locale.h>

namespace images {

class Utf8Locale {
 public:
  Utf8Locale()
      : utf8_(::newlocale(LC_CTYPE_MASK, "C.UTF-8", nullptr)),
        before_(utf8_ ? ::uselocale(utf8_) : nullptr) {}
  Utf8Locale(const Utf8Locale&) = delete;
  ~Utf8Locale() {
    if (!utf8_) return;
    ::uselocale(before_);
    ::freelocale(utf8_);
  }

 private:
  locale_t utf8_, before_;
};

}  // namespace images
