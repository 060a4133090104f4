#pragma once
// JobKeys: the jobs that clients have sent with an Idempotency-Key, by client and key. It keeps no
// job: a key is known as long as whoever keeps its job holds what take() returns. Loop thread only.

#include <map>
#include <memory>
#include <string>
#include <utility>

namespace service {

class JobKeys {
 public:
  struct Known {
    std::string digest;          // of the request
    std::string job;             // its id
    std::shared_ptr<void> held;  // counts the key
  };

  // Null: this client has not sent such a key, or it is forgotten.
  const Known* find(const std::string& client, const std::string& key) const;
  // A key that is not known is known until the last copy of what this returns goes; that must not
  // outlive the keys.
  std::shared_ptr<void> take(const std::string& client, const std::string& key, Known known);
  size_t size() const { return keys_.size(); }

  // The memory of one key.
  static size_t bytes_of(const std::string& client, const std::string& key);

 private:
  std::map<std::pair<std::string, std::string>, Known> keys_;
};

}  // namespace service
