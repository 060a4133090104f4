#include <fmt/format.h>

#include "cluster/engines/printed_words.h"

namespace cluster {

namespace {

// Runs on the host: the pilot gets SIGTERM when the connection's input ends, however that comes.
constexpr std::string_view kRemote =
    R"(exec 3<&0; {} </dev/null 3<&- & pilot=$!; )"
    R"((cat <&3 >/dev/null; kill -TERM "$pilot") 2>/dev/null & watch=$!; exec 3<&-; )"
    R"(wait "$pilot"; status=$?; kill "$watch" 2>/dev/null; exit "$status")";

// All connections read one pipe, into which nobody writes. Only this shell holds its other end.
constexpr std::string_view kLocal = R"(folder=$(mktemp -d) && mkfifo "$folder/input" || exit 1
exec 9<>"$folder/input" 8<"$folder/input"
rm -r "$folder"
ending=
trap 'ending=x$ending; exec 9>&-' INT TERM HUP
pilots=
for host in $hosts; do
  [ -z "$ending" ] || break
  ssh -o BatchMode=yes -o ServerAliveInterval=15 "$host" "$remote" <&8 8<&- 9>&- &
  pilots="$pilots $!"
done
status=0
for pilot in $pilots; do
  while :; do  # a signal ends a wait before the pilot has ended
    seen=$ending
    wait "$pilot"
    ended=$?
    [ "$ending" != "$seen" ] || break
  done
  [ "$ended" -eq 0 ] || status=1
done
exit "$status"
)";

}  // namespace

std::string print_ssh(const PrintOptions& options) {
  std::vector<std::string> words = pilot_words(options, files_of(options));
  words.insert(words.begin(), options.program);
  const std::string remote = fmt::format(kRemote, shell_line(words));
  std::string text =
      "#!/bin/sh\n"
      "# A pilot of zygo on each host: sh FILE. Pilots drain and end when this script ends, by\n"
      "# Ctrl-C, SIGTERM or SIGKILL: its end of their input closes. The hosts have the file of "
      "the\n"
      "# token and a key of ours already.\n"
      "set -u\n";
  text += fmt::format("hosts={}\n", shell_word(shell_line(options.hosts)));
  text += fmt::format("remote={}\n\n", shell_word(remote));
  return text + std::string(kLocal);
}

}  // namespace cluster
