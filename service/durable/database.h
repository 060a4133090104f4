#pragma once
// Database: thin owner of one SQLite file. Its .cc alone includes sqlite3.h. Blocks on the disk;
// one thread at a time.

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "sandbox/sys/result.h"

struct sqlite3;
struct sqlite3_stmt;

namespace service {

// One run of a statement. Bound values must live until the Query ends.
class Query {
 public:
  Query(sqlite3* database, const std::string& path, sqlite3_stmt* statement);
  ~Query();
  Query(const Query&) = delete;

  // In the order of the question marks.
  Query& number(int64_t value);
  Query& number_or_null(int64_t value);  // 0: null
  Query& text(std::string_view value);
  Query& text_or_null(std::string_view value);  // empty: null
  Query& bytes(std::string_view value);

  sys::Result<bool> next();  // is there a row?
  sys::Result<void> run();   // one that gives no rows

  int64_t number_at(int column) const;
  std::string bytes_at(int column) const;  // text, too
  bool is_null(int column) const;

 private:
  Query& bound(int code);

  sqlite3* const database_;
  const std::string& path_;
  sqlite3_stmt* const statement_;
  int bound_ = 0;
  int bad_ = 0;  // the first failure of a binding
};

class Database {
 public:
  // Must be there. Nothing is read yet.
  static sys::Result<Database> open(const std::string& path);
  Database(Database&&) noexcept;
  ~Database();

  // `sql` is a literal: the statement made of it is kept under its address. Not two at once of one
  // literal.
  sys::Result<std::unique_ptr<Query>> query(const char* sql);
  sys::Result<void> run(const char* sql);         // no rows, or rows that do not matter
  sys::Result<std::string> ask(const char* sql);  // the first column of the first row
  sys::Result<int64_t> number(const char* sql);   // the same
  int64_t last_row() const;                       // that was inserted
  int64_t changed() const;                        // rows, by the last statement that changes any
  const std::string& path() const { return *path_; }

 private:
  Database(std::string path, sqlite3* handle);
  struct Close {
    void operator()(sqlite3* handle) const;
  };
  struct Finalize {
    void operator()(sqlite3_stmt* statement) const;
  };
  std::unique_ptr<const std::string> path_;  // where queries find it, also after a move
  std::unique_ptr<sqlite3, Close> handle_;
  std::unordered_map<const char*, std::unique_ptr<sqlite3_stmt, Finalize>> statements_;
};

// A transaction: rolled back unless it is committed.
class Transaction {
 public:
  static sys::Result<Transaction> begin(Database& database);
  Transaction(Transaction&& other) noexcept : database_(std::exchange(other.database_, nullptr)) {}
  ~Transaction();
  sys::Result<void> commit();

 private:
  explicit Transaction(Database& database) : database_(&database) {}
  Database* database_;
};

// Is it that there is no space?
bool is_full(const sys::Error& error);

}  // namespace service
