#pragma once
// Tests of the ledger share these: a folder of their own, and arrivals in one line.

#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "service/durable/ledger.h"

namespace service {

struct LedgerFolder {
  std::filesystem::path path;
  LedgerFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "ledger-test-XXXXXX").string();
    path = ::mkdtemp(name.data());
  }
  ~LedgerFolder() { std::filesystem::remove_all(path); }
  LedgerFolder(const LedgerFolder&) = delete;
  std::string file() const { return (path / "jobs.db").string(); }

  std::unique_ptr<Ledger> open(Ledger::Limits limits = {}) const {
    auto opened = Ledger::open(file(), limits);
    if (!opened) throw std::runtime_error(opened.error().text());
    return std::move(opened).value();
  }
  std::string complaint() const {
    auto opened = Ledger::open(file(), {});
    return opened ? "" : opened.error().text();
  }
};

// Jobs of one request, named after their bodies.
inline DurableRequest durable_request_of(std::string id, const std::vector<std::string>& bodies,
                                         std::string key = "", std::string client = "a") {
  DurableRequest arrival;
  arrival.id = std::move(id);
  arrival.client = std::move(client);
  arrival.key = std::move(key);
  for (const std::string& body : bodies) {
    arrival.digest += body + "\n";
    arrival.jobs.push_back({.name = body, .patience = {}, .body = body, .verdict = ""});
  }
  return arrival;
}

}  // namespace service
