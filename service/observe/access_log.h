#pragma once
// The access log: one line for each answer, to stderr; a successful health check has none. A pilot
// has one for each job of a router that belongs to a trace, too. Never waits for its reader: a line
// that would block is dropped, and the next one says how many were. Loop thread only.

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "service/http/exchange.h"

namespace service {

enum class LogFormat : uint8_t { kOff, kText, kJson };

// The line for what a command of zygo ("serve") has to say of itself, in every format; with its
// time.
std::string noted(LogFormat format, std::string_view what, std::string_view command);

// A job that a router has sent, and that belongs to a trace.
struct RoutedJob {
  std::string_view router, id;
  std::string label;
  int64_t us = 0;  // from its arrival to its result
  TraceContext trace;
};

class AccessLog {
 public:
  AccessLog(LogFormat format, int fd, std::string command)
      : format_(format), fd_(fd), command_(std::move(command)) {}
  void answered(const Exchange& exchange);
  void refused(const Peer& peer, int status);  // what was no request
  void ended(const RoutedJob& job);
  // What goes well is told where there is a log, what does not is told in any case.
  void tell(std::string_view what) {
    if (format_ != LogFormat::kOff) note(what);
  }
  void note(std::string_view what) { write(noted(format_, what, command_)); }
  void set_format(LogFormat format) { format_ = format; }

 private:
  struct Line {
    std::string client, method, path;
    int status = 0;
    size_t bytes = 0;
    int64_t us = 0;
    const Exchange* exchange = nullptr;  // for its jobs
  };
  void write(const Line& line);
  void write(std::string text);
  std::string text_of(const Line& line) const;
  std::string json_of(const Line& line) const;

  LogFormat format_;
  int fd_;
  const std::string command_;  // of zygo, which notes are of
  uint64_t dropped_ = 0;
};

}  // namespace service
