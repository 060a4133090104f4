#include "service/durable/database.h"

#include <sqlite3.h>

namespace service {

using sys::Error;
using sys::Result;

namespace {

// For a predecessor that is just ending; another zygo that stays is told of soon.
constexpr int kPatienceMs = 1000;

Error error_of(sqlite3* database, int code, const std::string& path) {
  switch (code & 0xff) {
    case SQLITE_FULL:
      return Error::from_errno(path, ENOSPC);
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      return Error::because(path + ": in use by another process (another zygo serve?)");
    case SQLITE_NOTADB:
      return Error::because(path + ": is no database");
    case SQLITE_CORRUPT:
      return Error::because(path + ": the database is damaged: " + sqlite3_errmsg(database));
    case SQLITE_READONLY:
      return Error::because(path + ": cannot be written to");
    default:
      return Error::because(path + ": " + sqlite3_errmsg(database));
  }
}

}  // namespace

bool is_full(const Error& error) { return error.code() == ENOSPC; }

Query::Query(sqlite3* database, const std::string& path, sqlite3_stmt* statement)
    : database_(database), path_(path), statement_(statement) {}

Query::~Query() {
  sqlite3_reset(statement_);
  sqlite3_clear_bindings(statement_);
}

Query& Query::bound(int code) {
  if (code != SQLITE_OK && bad_ == SQLITE_OK) bad_ = code;
  return *this;
}

Query& Query::number(int64_t value) {
  return bound(sqlite3_bind_int64(statement_, ++bound_, value));
}

Query& Query::number_or_null(int64_t value) {
  return value != 0 ? number(value) : bound(sqlite3_bind_null(statement_, ++bound_));
}

Query& Query::text(std::string_view value) {
  return bound(sqlite3_bind_text64(statement_, ++bound_, value.empty() ? "" : value.data(),
                                   value.size(), SQLITE_STATIC, SQLITE_UTF8));
}

Query& Query::text_or_null(std::string_view value) {
  return value.empty() ? bound(sqlite3_bind_null(statement_, ++bound_)) : text(value);
}

Query& Query::bytes(std::string_view value) {
  return bound(sqlite3_bind_blob64(statement_, ++bound_, value.empty() ? "" : value.data(),
                                   value.size(), SQLITE_STATIC));
}

Result<bool> Query::next() {
  if (bad_ != SQLITE_OK) return error_of(database_, bad_, path_);
  const int code = sqlite3_step(statement_);
  if (code == SQLITE_ROW) return true;
  if (code == SQLITE_DONE) return false;
  return error_of(database_, code, path_);
}

Result<void> Query::run() {
  while (TRY(next())) {
  }
  return {};
}

int64_t Query::number_at(int column) const { return sqlite3_column_int64(statement_, column); }

std::string Query::bytes_at(int column) const {
  const void* bytes = sqlite3_column_blob(statement_, column);
  const auto size = static_cast<size_t>(sqlite3_column_bytes(statement_, column));
  return bytes ? std::string(static_cast<const char*>(bytes), size) : std::string();
}

bool Query::is_null(int column) const {
  return sqlite3_column_type(statement_, column) == SQLITE_NULL;
}

void Database::Close::operator()(sqlite3* handle) const { sqlite3_close_v2(handle); }
void Database::Finalize::operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }

Database::Database(std::string path, sqlite3* handle)
    : path_(std::make_unique<const std::string>(std::move(path))), handle_(handle) {}
Database::Database(Database&&) noexcept = default;
Database::~Database() = default;

Result<Database> Database::open(const std::string& path) {
  sqlite3* handle = nullptr;
  // A name like :memory: is a file's, too.
  const std::string name = path.starts_with('/') ? path : "./" + path;
  const int code =
      sqlite3_open_v2(name.c_str(), &handle, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, nullptr);
  Database database(path, handle);
  if (code != SQLITE_OK) return error_of(handle, code, path);
  sqlite3_busy_timeout(handle, kPatienceMs);
  return database;
}

Result<std::unique_ptr<Query>> Database::query(const char* sql) {
  auto& kept = statements_[sql];
  if (!kept) {
    sqlite3_stmt* made = nullptr;
    const int code =
        sqlite3_prepare_v3(handle_.get(), sql, -1, SQLITE_PREPARE_PERSISTENT, &made, nullptr);
    if (code != SQLITE_OK) return error_of(handle_.get(), code, *path_);
    kept.reset(made);
  }
  return std::make_unique<Query>(handle_.get(), *path_, kept.get());
}

Result<void> Database::run(const char* sql) {
  const int code = sqlite3_exec(handle_.get(), sql, nullptr, nullptr, nullptr);
  if (code != SQLITE_OK) return error_of(handle_.get(), code, *path_);
  return {};
}

Result<std::string> Database::ask(const char* sql) {
  auto question = TRY(query(sql));
  if (!TRY(question->next())) return Error::because(*path_ + ": no answer to " + sql);
  return question->bytes_at(0);
}

Result<int64_t> Database::number(const char* sql) {
  auto question = TRY(query(sql));
  if (!TRY(question->next())) return Error::because(*path_ + ": no answer to " + sql);
  return question->number_at(0);
}

int64_t Database::last_row() const { return sqlite3_last_insert_rowid(handle_.get()); }
int64_t Database::changed() const { return sqlite3_changes(handle_.get()); }

Result<Transaction> Transaction::begin(Database& database) {
  TRY(database.run("BEGIN IMMEDIATE"));
  return Transaction(database);
}

// Some failures have rolled it back already; then this one does not matter.
Transaction::~Transaction() {
  if (database_) (void)database_->run("ROLLBACK");
}

Result<void> Transaction::commit() {
  TRY(database_->run("COMMIT"));
  database_ = nullptr;
  return {};
}

}  // namespace service
