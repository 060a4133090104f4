#include "service/durable/schema.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include "sandbox/sys/file.h"
#include "service/durable/session_rows.h"

namespace service {

using sys::Error;
using sys::Result;

namespace {

constexpr int64_t kApplication = 0x7a79676f;  // "zygo"
constexpr int64_t kVersion = 2;
constexpr int64_t kWithoutSessions = 1;  // what version 2 has beside it is new tables

// These are set before anything is written, so that nobody else's database is changed.
constexpr const char* kForThisConnection =
    "PRAGMA locking_mode=EXCLUSIVE;"  // no other process; and no shared memory beside the file
    "PRAGMA trusted_schema=OFF;"
    "PRAGMA cell_size_check=ON;"
    "PRAGMA mmap_size=0;"  // a failing disk is an error, not SIGBUS
    "PRAGMA temp_store=MEMORY;"
    "PRAGMA synchronous=FULL;"
    "PRAGMA journal_size_limit=16777216;";

// A request has ended when none of its jobs is left. `bytes` counts texts and an overhead. `place`
// is that of a verdict among those of its request.
constexpr const char* kTables =
    "CREATE TABLE requests ("
    "  number INTEGER PRIMARY KEY,"
    "  id TEXT NOT NULL UNIQUE,"
    "  client TEXT NOT NULL,"
    "  key TEXT,"
    "  digest TEXT NOT NULL,"
    "  defaults TEXT NOT NULL,"
    "  template TEXT NOT NULL,"
    "  jobs INTEGER NOT NULL,"
    "  left INTEGER NOT NULL,"
    "  bytes INTEGER NOT NULL,"
    "  ended_ms INTEGER);"
    "CREATE UNIQUE INDEX requests_by_key ON requests(client, key) WHERE key IS NOT NULL;"
    "CREATE INDEX requests_by_end ON requests(ended_ms) WHERE ended_ms IS NOT NULL;"
    "CREATE TABLE jobs ("
    "  number INTEGER PRIMARY KEY,"
    "  request INTEGER NOT NULL,"
    "  name TEXT NOT NULL,"
    "  priority INTEGER NOT NULL,"
    "  until_ms INTEGER,"
    "  expired INTEGER NOT NULL DEFAULT 0,"
    "  place INTEGER,"
    "  body BLOB,"
    "  verdict BLOB);"
    "CREATE INDEX jobs_by_request ON jobs(request, place);"
    "CREATE INDEX jobs_that_wait ON jobs(number) WHERE place IS NULL;";

// It holds programs and data of clients: for its owner only. SQLite gives what it puts beside it
// the same mode.
Result<void> make_file(const std::string& path) {
  const sys::OwnedFd file = TRY(sys::open(path, O_RDWR | O_CREAT | O_NOCTTY | O_NONBLOCK, 0600));
  struct stat about {};
  if (::fstat(file.get(), &about) < 0) return Error::from_errno(path);
  if (!S_ISREG(about.st_mode)) return Error::because(path + ": is no regular file");
  return {};
}

Result<void> use_wal(Database& database) {
  const std::string mode = TRY(database.ask("PRAGMA journal_mode=WAL"));
  if (mode == "wal") return {};
  return Error::because(database.path() + ": this file system does not let SQLite keep a log (" +
                        mode + ")");
}

Result<void> make_tables(Database& database) {
  TRY(database.run("PRAGMA auto_vacuum=INCREMENTAL"));
  TRY(use_wal(database));
  Transaction all = TRY(Transaction::begin(database));
  TRY(database.run(kTables));
  TRY(database.run(SessionRows::kTables));
  TRY(database.run(
      fmt::format("PRAGMA application_id={}; PRAGMA user_version={}", kApplication, kVersion)
          .c_str()));
  return all.commit();
}

Result<void> add_sessions(Database& database) {
  Transaction all = TRY(Transaction::begin(database));
  TRY(database.run(SessionRows::kTables));
  TRY(database.run(fmt::format("PRAGMA user_version={}", kVersion).c_str()));
  return all.commit();
}

Result<void> check(Database& database) {
  const std::string& path = database.path();
  if (TRY(database.number("PRAGMA application_id")) != kApplication)
    return Error::because(path + ": is a database, but not one of zygo's durable jobs");
  const int64_t version = TRY(database.number("PRAGMA user_version"));
  if (version != kVersion && version != kWithoutSessions) {
    return Error::because(fmt::format("{}: is of version {}, and this zygo reads version {}", path,
                                      version, kVersion));
  }
  const std::string found = TRY(database.ask("PRAGMA quick_check(1)"));
  if (found != "ok") return Error::because(path + ": the database is damaged: " + found);
  TRY(use_wal(database));
  return version == kWithoutSessions ? add_sessions(database) : Result<void>();
}

}  // namespace

Result<Database> open_ledger_file(const std::string& path) {
  TRY(make_file(path));
  Database database = TRY(Database::open(path));
  TRY(database.run(kForThisConnection));
  const bool fresh = TRY(database.number("SELECT count(*) FROM sqlite_master")) == 0 &&
                     TRY(database.number("PRAGMA application_id")) == 0;
  TRY(fresh ? make_tables(database) : check(database));
  return database;
}

}  // namespace service
