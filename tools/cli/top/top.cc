#include "tools/cli/top/top.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include <array>
#include <memory>
#include <optional>
#include <utility>

#include "sandbox/sys/file.h"
#include "tools/cli/cluster/tls_options.h"
#include "tools/cli/http_client.h"
#include "tools/cli/text.h"
#include "tools/cli/token_file.h"
#include "tools/cli/top/top_screen.h"

namespace cli {
namespace {

using sys::Result;

constexpr size_t kRowsOnce = 30;
constexpr sys::Milliseconds kPatience{5000};

// The other screen of the terminal, keys without echo; all as it was when this goes.
class Terminal {
 public:
  Terminal() : reads_keys_(::tcgetattr(STDIN_FILENO, &before_) == 0) {
    if (reads_keys_) {
      termios raw = before_;
      raw.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO);
      ::tcsetattr(STDIN_FILENO, TCSANOW, &raw);
    }
    put("\x1b[?1049h\x1b[?25l");
  }
  ~Terminal() {
    put("\x1b[?25h\x1b[?1049l");
    if (reads_keys_) ::tcsetattr(STDIN_FILENO, TCSANOW, &before_);
  }
  Terminal(const Terminal&) = delete;
  Terminal& operator=(const Terminal&) = delete;

  bool reads_keys() const { return reads_keys_; }
  // Overwrites line by line and clears what is left, so that nothing flickers.
  void show(const std::vector<std::string>& lines) const {
    put(fmt::format("\x1b[H{}\x1b[K\x1b[J", fmt::join(lines, "\x1b[K\r\n")));
  }

 private:
  // This does not call write_output(): the lines are safe already, and the rest is meant for the
  // terminal.
  static void put(const std::string& bytes) {
    static_cast<void>(sys::write_all(STDOUT_FILENO, bytes).ok());
  }
  termios before_{};
  bool reads_keys_;
};

ScreenSize terminal_size() {
  winsize size{};
  ScreenSize screen;
  if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) < 0 || size.ws_col == 0 || size.ws_row == 0)
    return screen;
  return {size.ws_col, size.ws_row};
}

// What a service says at one time.
struct Look {
  std::string stats;                  // the body of /v1/stats
  std::optional<std::string> pilots;  // of a router: that of /v1/pilots

  Result<TopStats> read() const;
  Result<std::string> json() const;
};

struct Source {
  cluster::JoinUrl url;
  std::string token;
  const StopSignals* stop = nullptr;
  std::shared_ptr<const cluster::TlsContext> tls;  // of https:// alone
  bool may_be_router = true;

  int stop_fd() const { return stop == nullptr ? -1 : stop->fd(); }
  bool stopped() const { return stop != nullptr && stop->came(); }
  Result<std::string> fetch_stats() const;
  Result<std::optional<std::string>> fetch_pilots();
  Result<Look> fetch();
};

Result<TopStats> Look::read() const {
  TopStats all = TRY(read_top_stats(stats));
  if (pilots) all.cluster = TRY(read_top_pilots(*pilots));
  return all;
}

// What the service says, on a line; of a router with its pilots.
Result<std::string> Look::json() const {
  if (pilots) return json_with_pilots(stats, *pilots);
  return stats.substr(0, stats.find('\n'));
}

Result<Look> Source::fetch() {
  Look look{TRY(fetch_stats()), {}};
  look.pilots = TRY(fetch_pilots());
  return look;
}

// Who has no such path, or lets nobody ask for it, is no router and is not asked again.
Result<std::optional<std::string>> Source::fetch_pilots() {
  if (!may_be_router) return std::optional<std::string>();
  HttpAnswer answer = TRY(http_get(url, {"/v1/pilots", token, tls.get()}, kPatience, stop_fd()));
  if (answer.status == 200) return std::optional(std::move(answer.body));
  if (answer.status < 400 || answer.status >= 500)
    return sys::Error::because(fmt::format("GET /v1/pilots has status {}", answer.status));
  may_be_router = false;
  return std::optional<std::string>();
}

// The body of /v1/stats, or in words for people why there is none.
Result<std::string> Source::fetch_stats() const {
  HttpAnswer answer = TRY(http_get(url, {"/v1/stats", token, tls.get()}, kPatience, stop_fd()));
  switch (answer.status) {
    case 200:
      return std::move(answer.body);
    case 401:
      return sys::Error::because("a token is asked for: --token-file FILE");
    case 403:
      return sys::Error::because("the token does not have the scope metrics");
    case 404:
      return sys::Error::because("it has no statistics; is it a zygo serve of this version?");
    default:
      return sys::Error::because(fmt::format("it answers with status {}", answer.status));
  }
}

// True: end now. Keys and signals come in here.
bool wait_until(sys::Nanoseconds when, const Source& source, bool reads_keys) {
  std::array<pollfd, 2> watched{pollfd{source.stop_fd(), POLLIN, 0},
                                pollfd{reads_keys ? STDIN_FILENO : -1, POLLIN, 0}};
  for (;;) {
    const sys::Nanoseconds left = when - sys::monotonic_now();
    if (left.count() <= 0) return false;
    const auto ms = std::chrono::ceil<sys::Milliseconds>(left).count();
    if (::poll(watched.data(), watched.size(), static_cast<int>(ms)) <= 0) continue;
    if (watched[0].revents != 0) return true;
    char key = 0;
    if (watched[1].revents == 0) continue;
    if (::read(STDIN_FILENO, &key, 1) <= 0) watched[1].fd = -1;
    if (key == 'q' || key == 'Q') return true;
  }
}

bool print(const std::string& text) { return sys::write_all(STDOUT_FILENO, text + "\n").ok(); }

int cannot(const Source& source, const sys::Error& error) {
  return refuse("top", {source.url.text() + ": " + error.text(), kExitSandbox});
}

int print_json(const Source& source, const Look& look) {
  Result<std::string> json = look.json();
  if (!json) return cannot(source, json.error());
  return print(*json) ? kExitOk : kExitSandbox;
}

// Once: the screen without a terminal's means.
int show_once(Source& source, const CommandLine& line) {
  Result<Look> look = source.fetch();
  if (!look) return source.stopped() ? kExitOk : cannot(source, look.error());
  if (line.common.json) return print_json(source, *look);
  Result<TopStats> stats = look->read();
  if (!stats) return cannot(source, stats.error());
  const Style style = style_for(STDOUT_FILENO, line.common.no_color);
  for (const std::string& each : top_screen(*stats, source.url.text(), "",
                                            {terminal_width(STDOUT_FILENO), kRowsOnce}, style)) {
    if (!print(each)) return kExitSandbox;
  }
  return kExitOk;
}

// A line for each look, for pipes and files.
int follow_as_lines(Source& source, const CommandLine& line) {
  bool has_heading = line.common.json;
  for (sys::Nanoseconds next = sys::monotonic_now();; next += line.top.every) {
    if (wait_until(next, source, false)) return kExitOk;
    Result<Look> look = source.fetch();
    if (source.stopped()) return kExitOk;
    if (!look) return cannot(source, look.error());
    Result<TopStats> stats = look->read();
    if (!stats) return cannot(source, stats.error());
    if (!std::exchange(has_heading, true) && !print(top_heading(*stats))) return kExitOk;
    Result<std::string> shown = line.common.json ? look->json() : top_line(*stats);
    if (!shown) return cannot(source, shown.error());
    if (!print(*shown)) return kExitOk;  // whoever read it has gone
  }
}

int follow_on_terminal(Source& source, const CommandLine& line) {
  Result<Look> look = source.fetch();
  if (!look) return cannot(source, look.error());
  const Style style = style_for(STDOUT_FILENO, line.common.no_color);
  TopStats stats;
  const Terminal terminal;
  for (sys::Nanoseconds next = sys::monotonic_now();;) {
    std::string trouble;
    if (look) {
      Result<TopStats> read = look->read();
      if (read) stats = std::move(read).value();
      if (!read) trouble = read.error().text();
    } else {
      trouble = look.error().text();
    }
    terminal.show(top_screen(stats, source.url.text(), trouble, terminal_size(), style));
    next = std::max(next + line.top.every, sys::monotonic_now());
    if (wait_until(next, source, terminal.reads_keys())) return kExitOk;
    look = source.fetch();
  }
}

}  // namespace

int top_command(const CommandLine& line, const Parts& parts) {
  Result<cluster::JoinUrl> url =
      parse_service_url(line.top.url.empty() ? kDefaultListen : line.top.url);
  if (!url) return refuse("top", {"--url: " + url.error().text()});
  Result<std::string> token = read_token_file(line.top.token_file);
  if (!token) return refuse("top", {"--token-file: " + token.error().text()});
  auto tls =
      open_tls({.ca = line.top.ca_file, .cert = line.top.cert_file, .key = line.top.key_file},
               url->tls, "--url");
  if (!tls) return refuse("top", {tls.error().text()});
  Source source{*std::move(url), *std::move(token), parts.stop, *std::move(tls)};
  if (line.top.once) return show_once(source, line);
  if (line.common.json || !is_terminal(STDOUT_FILENO)) return follow_as_lines(source, line);
  return follow_on_terminal(source, line);
}

}  // namespace cli
