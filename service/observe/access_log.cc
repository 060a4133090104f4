#include "service/observe/access_log.h"

#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <climits>

#include "runtime/values/json_text.h"
#include "runtime/values/utf8.h"
#include "sandbox/sys/utc.h"

namespace service {

namespace {

constexpr size_t kLongestPath = 512;

std::string time_text() { return sys::utc_text(sys::time_since_1970()); }

std::string quoted(std::string_view text) {
  std::string out;
  runtime::append_json_string(runtime::utf8_head(text, kLongestPath), out);
  return out;
}

std::string jobs_of(const Exchange* exchange) {
  std::string list = "[";
  if (exchange) {
    for (const std::string& id : exchange->jobs) list += (list.size() > 1 ? "," : "") + quoted(id);
  }
  return list + "]";
}

// They come every few seconds for as long as the service lives.
bool is_good_probe(const Exchange& exchange) {
  const std::string& path = exchange.request.path;
  return exchange.status() == 200 && (path == "/healthz" || path == "/readyz");
}

// One line, whatever others are called.
std::string on_one_line(std::string_view text) {
  std::string line(text);
  std::ranges::replace_if(
      line, [](unsigned char each) { return each < 0x20 || each == 0x7f; }, '?');
  return line;
}

}  // namespace

std::string noted(LogFormat format, std::string_view what, std::string_view command) {
  return format == LogFormat::kJson
             ? fmt::format(R"({{"time":"{}","note":{}}})", time_text(), quoted(what))
             : fmt::format("{} zygo {}: {}", time_text(), command, on_one_line(what));
}

void AccessLog::answered(const Exchange& exchange) {
  if (format_ == LogFormat::kOff || is_good_probe(exchange)) return;
  const auto took =
      std::chrono::duration_cast<sys::Microseconds>(sys::monotonic_now() - exchange.began());
  write({exchange.client, std::string(name_of(exchange.request.method)), exchange.request.path,
         exchange.status(), exchange.sent(), took.count(), &exchange});
}

void AccessLog::refused(const Peer& peer, int status) {
  if (format_ == LogFormat::kOff) return;
  write({peer.name, "", "", status, 0, 0, nullptr});
}

void AccessLog::ended(const RoutedJob& job) {
  if (format_ == LogFormat::kOff) return;
  if (format_ == LogFormat::kText) {
    return write(fmt::format("{} {} job {} {} {}.{:03} ms trace {} span {}", time_text(),
                             quoted(job.router), quoted(job.id), quoted(job.label), job.us / 1000,
                             job.us % 1000, job.trace.trace_id, job.trace.span_id));
  }
  write(fmt::format(
      R"({{"time":"{}","client":{},"job_count":1,"jobs":[{}],"label":{},"us":{},"trace":{}}})",
      time_text(), quoted(job.router), quoted(job.id), quoted(job.label), job.us,
      job.trace.json()));
}

std::string AccessLog::text_of(const Line& line) const {
  std::string text =
      fmt::format("{} {} {} {} {} {} B {}.{:03} ms", time_text(), quoted(line.client),
                  line.method.empty() ? "-" : line.method, quoted(line.path), line.status,
                  line.bytes, line.us / 1000, line.us % 1000);
  if (line.exchange && line.exchange->job_count > 0)
    text += fmt::format(" {} jobs {}", line.exchange->job_count, jobs_of(line.exchange));
  if (line.exchange && line.exchange->trace)
    text += fmt::format(" trace {} span {}", line.exchange->trace->trace_id,
                        line.exchange->trace->span_id);
  return text;
}

std::string AccessLog::json_of(const Line& line) const {
  return fmt::format(
      R"({{"time":"{}","client":{},"method":"{}","path":{},"status":{},"bytes":{},"us":{},"job_count":{},"jobs":{}{}}})",
      time_text(), quoted(line.client), line.method, quoted(line.path), line.status, line.bytes,
      line.us, line.exchange ? line.exchange->job_count : 0, jobs_of(line.exchange),
      line.exchange && line.exchange->trace ? ",\"trace\":" + line.exchange->trace->json() : "");
}

void AccessLog::write(const Line& line) {
  write(format_ == LogFormat::kJson ? json_of(line) : text_of(line));
}

// A pipe that says it has room takes this much without waiting (pipe(7)).
void AccessLog::write(std::string text) {
  text += '\n';
  if (dropped_ > 0) {
    const char* form = format_ == LogFormat::kJson ? "{{\"dropped\":{}}}\n" : "{} lines dropped\n";
    text.insert(0, fmt::format(fmt::runtime(form), dropped_));
  }
  pollfd entry{fd_, POLLOUT, 0};
  const bool room =
      text.size() <= PIPE_BUF && ::poll(&entry, 1, 0) > 0 && (entry.revents & POLLOUT) != 0;
  if (room && ::write(fd_, text.data(), text.size()) == static_cast<ssize_t>(text.size())) {
    dropped_ = 0;
  } else {
    ++dropped_;
  }
}

}  // namespace service
