// The entries of a directory, in the order of their names.

#include <dirent.h>
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>

#include <atomic>
#include <cstring>
#include <new>

#include "shim/fixed/state.h"

namespace {

// All that a stream has, in order. On x86-64 `dirent` and `dirent64` are one. No lock is over all
// of them, for a child may be forked, or a signal arrive, while it is held; that of one stream
// binds as much as the C library's own does, which is in a stream, too.
struct Listing {
  std::atomic<DIR*> stream{nullptr};  // null: it is for the next who needs one
  Listing* next = nullptr;
  pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  bool is_read = false;
  dirent** entries = nullptr;
  size_t count = 0, at = 0;
};

// Grows by what is open at one time, and never shrinks.
std::atomic<Listing*> listings{nullptr};

// Of one whose content is being made or taken away.
DIR* const kTaken = reinterpret_cast<DIR*>(&listings);

class Lock {
 public:
  explicit Lock(Listing& listing) : mutex_(listing.mutex) { ::pthread_mutex_lock(&mutex_); }
  ~Lock() { ::pthread_mutex_unlock(&mutex_); }

 private:
  pthread_mutex_t& mutex_;
};

using ReadDir = dirent*(DIR*);
dirent* really_read(DIR* stream) {
  static auto* const real = fixed::next<ReadDir>("readdir64");
  return real(stream);
}

Listing* find(DIR* stream) {
  Listing* at = listings.load(std::memory_order_acquire);
  while (at && at->stream.load(std::memory_order_acquire) != stream) at = at->next;
  return at;
}

// One that nobody else has now. Null: there is no memory for it.
Listing* take() {
  for (Listing* at = listings.load(std::memory_order_acquire); at; at = at->next) {
    DIR* none = nullptr;
    if (at->stream.compare_exchange_strong(none, kTaken)) return at;
  }
  void* const room = std::malloc(sizeof(Listing));
  if (!room) return nullptr;
  auto* const made = new (room) Listing;
  made->stream = kTaken;
  made->next = listings.load(std::memory_order_relaxed);
  while (!listings.compare_exchange_weak(made->next, made, std::memory_order_acq_rel)) {
  }
  return made;
}

void clear(Listing& listing) {
  for (size_t i = 0; i < listing.count; ++i) std::free(listing.entries[i]);
  std::free(listing.entries);
  listing.entries = nullptr;
  listing.count = listing.at = 0;
  listing.is_read = false;
}

// Without the lock: who closes a stream is its last user, and a child may have it locked for ever.
void forget(DIR* stream) {
  Listing* const listing = find(stream);
  if (!listing) return;
  clear(*listing);
  listing->mutex = PTHREAD_MUTEX_INITIALIZER;
  listing->stream.store(nullptr, std::memory_order_release);
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
  if (Listing* const known = find(stream)) return known;
  Listing* const made = take();
  if (made) made->stream.store(stream, std::memory_order_release);
  return made;
}

// Before anybody else can know it: two threads that read one stream find one listing.
DIR* opened(DIR* stream) {
  if (stream && fixed::is_on()) (void)listing_of(stream);
  return stream;
}

// Under its lock.
void read_all(Listing& listing, DIR* stream) {
  if (listing.is_read) return;
  const int before = errno;
  while (const dirent* entry = really_read(stream)) {
    if (!add(listing, entry)) break;
  }
  if (listing.count > 0) std::qsort(listing.entries, listing.count, sizeof(dirent*), by_name);
  listing.is_read = true;
  errno = before;
}

dirent* read_next(DIR* stream) {
  if (!fixed::is_on()) return really_read(stream);
  Listing* const listing = listing_of(stream);
  if (!listing) return nullptr;
  const Lock lock(*listing);
  read_all(*listing, stream);
  return listing->at < listing->count ? listing->entries[listing->at++] : nullptr;
}

}  // namespace

ZYGO_HOOK DIR* opendir(const char* path) {
  ZYGO_NEXT(opendir);
  return opened(real(path));
}
ZYGO_HOOK DIR* fdopendir(int fd) {
  ZYGO_NEXT(fdopendir);
  return opened(real(fd));
}

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
  Listing* const listing = find(stream);
  if (!listing) return real(stream);
  const Lock lock(*listing);
  clear(*listing);
  real(stream);
}

ZYGO_HOOK long telldir(DIR* stream) noexcept {
  ZYGO_NEXT(telldir);
  if (!fixed::is_on()) return real(stream);
  Listing* const listing = listing_of(stream);
  if (!listing) return -1;
  const Lock lock(*listing);
  return static_cast<long>(listing->at);
}

ZYGO_HOOK void seekdir(DIR* stream, long place) noexcept {
  ZYGO_NEXT(seekdir);
  if (!fixed::is_on()) return real(stream, place);
  Listing* const listing = listing_of(stream);
  if (!listing) return;
  const Lock lock(*listing);
  read_all(*listing, stream);
  listing->at = static_cast<size_t>(place);
}
