// The entries of a directory, in the order of their names.

#include <dirent.h>
#include <errno.h>
#include <sched.h>
#include <stdlib.h>

#include <atomic>
#include <cstring>

#include "shim/fixed/state.h"

namespace {

// All that a stream has, in order. On x86-64 `dirent` and `dirent64` are one.
struct Listing {
  DIR* stream = nullptr;
  Listing* next = nullptr;
  dirent** entries = nullptr;
  size_t count = 0, at = 0;
};

std::atomic_flag busy = ATOMIC_FLAG_INIT;
Listing* listings = nullptr;

class Lock {
 public:
  Lock() {
    while (busy.test_and_set(std::memory_order_acquire)) ::sched_yield();
  }
  ~Lock() { busy.clear(std::memory_order_release); }
};

using ReadDir = dirent*(DIR*);
dirent* really_read(DIR* stream) {
  static auto* const real = fixed::next<ReadDir>("readdir64");
  return real(stream);
}

Listing** place_of(DIR* stream) {
  Listing** at = &listings;
  while (*at && (*at)->stream != stream) at = &(*at)->next;
  return at;
}

void forget(DIR* stream) {
  const Lock lock;
  Listing** const at = place_of(stream);
  Listing* const listing = *at;
  if (!listing) return;
  *at = listing->next;
  for (size_t i = 0; i < listing->count; ++i) std::free(listing->entries[i]);
  std::free(listing->entries);
  std::free(listing);
}

int by_name(const void* a, const void* b) {
  return std::strcmp((*static_cast<dirent* const*>(a))->d_name,
                     (*static_cast<dirent* const*>(b))->d_name);
}

bool add(Listing& listing, const dirent* entry) {
  if ((listing.count & (listing.count + 1)) == 0) {  // full: 0, 1, 3, 7, ...
    const size_t room = listing.count * 2 + 1;
    void* more = std::realloc(listing.entries, room * sizeof(dirent*));
    if (!more) return false;
    listing.entries = static_cast<dirent**>(more);
  }
  void* copy = std::malloc(entry->d_reclen);
  if (!copy) return false;
  std::memcpy(copy, entry, entry->d_reclen);
  listing.entries[listing.count++] = static_cast<dirent*>(copy);
  return true;
}

// Null: there is no memory for it.
Listing* listing_of(DIR* stream) {
  Listing** const at = place_of(stream);
  if (*at) return *at;
  auto* listing = static_cast<Listing*>(std::calloc(1, sizeof(Listing)));
  if (!listing) return nullptr;
  listing->stream = stream;
  while (const dirent* entry = really_read(stream)) {
    if (!add(*listing, entry)) break;
  }
  if (listing->count > 0) std::qsort(listing->entries, listing->count, sizeof(dirent*), by_name);
  *at = listing;
  return listing;
}

dirent* read_next(DIR* stream) {
  if (!fixed::is_on()) return really_read(stream);
  const Lock lock;
  const int before = errno;
  Listing* const listing = listing_of(stream);
  if (!listing) return nullptr;
  errno = before;
  return listing->at < listing->count ? listing->entries[listing->at++] : nullptr;
}

}  // namespace

ZYGO_HOOK dirent* readdir(DIR* stream) { return read_next(stream); }
ZYGO_HOOK dirent64* readdir64(DIR* stream) {
  static_assert(sizeof(dirent) == sizeof(dirent64));
  return reinterpret_cast<dirent64*>(read_next(stream));
}

ZYGO_HOOK int closedir(DIR* stream) {
  ZYGO_NEXT(closedir);
  forget(stream);
  return real(stream);
}

ZYGO_HOOK void rewinddir(DIR* stream) noexcept {
  ZYGO_NEXT(rewinddir);
  forget(stream);
  real(stream);
}

ZYGO_HOOK long telldir(DIR* stream) noexcept {
  ZYGO_NEXT(telldir);
  if (!fixed::is_on()) return real(stream);
  const Lock lock;
  const Listing* const listing = listing_of(stream);
  return listing ? static_cast<long>(listing->at) : -1;
}

ZYGO_HOOK void seekdir(DIR* stream, long place) noexcept {
  ZYGO_NEXT(seekdir);
  if (!fixed::is_on()) return real(stream, place);
  const Lock lock;
  Listing* const listing = listing_of(stream);
  if (listing) listing->at = static_cast<size_t>(place);
}
