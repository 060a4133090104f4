#pragma once
// Allowance: bounds the bytes that the service holds for clients: request bodies, the jobs made of
// them, output of running jobs, results that nobody has taken. For all clients together, and for
// each so that room is left for the others. Any thread. A Share gives back what it holds when it
// ends, and may outlive its Allowance.

#include <cstddef>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <utility>

#include "runtime/job/holding.h"

namespace service {

// May one client, who has `mine` of something already, have so much of it that `left` is free
// afterwards? It may have all but an eighth of what the others leave. So a further client always
// finds room, and where there are fewer than seven of something, one client may have them all.
constexpr bool leaves_room(size_t mine, size_t left) { return mine / 7 <= left; }

class Allowance {
 public:
  explicit Allowance(size_t most) : book_(std::make_shared<Book>()) { book_->most = most; }
  size_t held() const {
    std::lock_guard lock(book_->mutex);
    return book_->held;
  }
  size_t most() const {
    std::lock_guard lock(book_->mutex);
    return book_->most;
  }
  void set_most(size_t most) {
    std::lock_guard lock(book_->mutex);
    book_->most = most;
  }

 private:
  struct Book {
    std::mutex mutex;
    size_t most = 0, held = 0;
    std::unordered_map<std::string, size_t> of_client;
  };

 public:
  class Share {
   public:
    Share() = default;
    Share(const Allowance& of, std::string client) : book_(of.book_), client_(std::move(client)) {}
    Share(Share&& other) noexcept
        : book_(std::move(other.book_)),
          client_(std::move(other.client_)),
          bytes_(std::exchange(other.bytes_, 0)) {}
    Share& operator=(Share&& other) noexcept {
      Share old(std::move(*this));
      book_ = std::move(other.book_);
      client_ = std::move(other.client_);
      bytes_ = std::exchange(other.bytes_, 0);
      return *this;
    }
    ~Share() { resize(0); }

    size_t bytes() const { return bytes_; }
    const std::string& client() const { return client_; }
    Share another() const;  // of the same client, and empty
    // False, and nothing changed, when that is more than there is for this client.
    bool resize(size_t bytes);

   private:
    std::shared_ptr<Book> book_;
    std::string client_;
    size_t bytes_ = 0;
  };

 private:
  std::shared_ptr<Book> book_;
};

// So many bytes more, for the same client, until the last copy goes. Null: that is too much.
std::shared_ptr<void> held_share(const Allowance::Share& like, size_t bytes);

// The bytes held for one running job, and for its result while that is written.
class JobHolding : public runtime::Holding {
 public:
  explicit JobHolding(Allowance::Share share) : share_(std::move(share)) {}
  bool grow(size_t bytes) override {
    std::lock_guard lock(mutex_);
    return share_.resize(share_.bytes() + bytes);
  }
  void shrink(size_t bytes) override {
    std::lock_guard lock(mutex_);
    share_.resize(share_.bytes() - bytes);
  }

 private:
  std::mutex mutex_;
  Allowance::Share share_;
};

}  // namespace service
