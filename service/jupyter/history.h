#pragma once
// The cells that a kernel has run, for clients that ask for them. Pure.

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace service::jupyter {

class History {
 public:
  void add(int64_t count, std::string code) { cells_.push_back({count, std::move(code)}); }
  // The answer to a history_request: of what is asked for the newest, within bounds.
  nlohmann::json answer(const nlohmann::json& request) const;

 private:
  struct Cell {
    int64_t count;
    std::string code;
  };
  std::vector<const Cell*> found(const nlohmann::json& request) const;

  std::vector<Cell> cells_;
};

}  // namespace service::jupyter
