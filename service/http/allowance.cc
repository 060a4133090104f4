#include "service/http/allowance.h"

#include <algorithm>

namespace service {

bool Allowance::Share::resize(size_t bytes) {
  if (!book_) return bytes == 0;
  if (bytes == bytes_) return true;
  std::lock_guard lock(book_->mutex);
  auto mine = book_->of_client.try_emplace(client_, 0).first;
  if (bytes > bytes_) {
    const size_t more = bytes - bytes_, free = book_->most - std::min(book_->most, book_->held);
    if (more > free || !leaves_room(mine->second + more, free - more)) {
      if (mine->second == 0) book_->of_client.erase(mine);
      return false;
    }
  }
  book_->held = book_->held - bytes_ + bytes;
  mine->second = mine->second - bytes_ + bytes;
  bytes_ = bytes;
  if (mine->second == 0) book_->of_client.erase(mine);
  return true;
}

Allowance::Share Allowance::Share::another() const {
  Share other;
  other.book_ = book_;
  other.client_ = client_;
  return other;
}

std::shared_ptr<void> held_share(const Allowance::Share& like, size_t bytes) {
  auto share = std::make_shared<Allowance::Share>(like.another());
  return share->resize(bytes) ? share : nullptr;
}

}  // namespace service
