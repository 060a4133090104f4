// Calls of a hostile job that were refused, in words: any call number, any arguments, any memory
// behind them (ours, since this process asks about itself).

#include <fcntl.h>
#include <unistd.h>

#include <cstdint>
#include <string>

#include "runtime/values/utf8.h"
#include "sandbox/notify/address.h"
#include "sandbox/notify/words.h"
#include "sandbox/seccomp/syscall_names.h"
#include "sandbox/sys/file.h"
#include "sandbox/sys/result.h"
#include "tests/fuzz/input.h"

namespace {

void check_words(std::string_view words) {
  VERIFY(runtime::is_utf8(words));
  for (size_t i = 0; i < words.size(); ++i) {
    const auto c = static_cast<uint8_t>(words[i]);
    VERIFY(c >= 0x20 && c != 0x7f);
    VERIFY(c != 0xc2 || static_cast<uint8_t>(words[i + 1]) >= 0xa0);
  }
}

constexpr const char* kCalls[] = {
    "socket",  "connect", "sendto",       "execve",  "execveat", "clone",
    "unshare", "setns",   "prctl",        "ioctl",   "ptrace",   "prlimit64",
    "kill",    "tgkill",  "setpriority",  "mount",   "umount2",  "open_tree",
    "vhangup", "bind",    "memfd_create", "mq_open", "fork",     "kcmp"};

// The whole way of a call that waits: the path in its memory is looked up, and nothing is opened
// but to look. Nobody is listening, so the ruling is always that of a caller who died.
void rule_on(const sandbox::Notice& notice, sandbox::Profile profile) {
  static const sys::OwnedFd root = sys::open("/", O_PATH | O_DIRECTORY).value();
  sandbox::CellView cell;
  cell.root_fd = root.get();
  cell.profile = profile;
  const sandbox::Ruling ruling = sandbox::rule(-1, cell, notice);
  VERIFY(!(ruling.proceed && ruling.refusal));
  if (!ruling.refusal) return;
  check_words(ruling.refusal->call);
  check_words(ruling.refusal->argument);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  fuzz::Input input(data, size);
  sandbox::Notice notice;
  notice.pid = ::getpid();
  const uint8_t which = input.byte();
  notice.nr = input.number<int32_t>();
  notice.arch = input.flag() ? input.number<uint32_t>() : 0xc000003e;  // AUDIT_ARCH_X86_64
  // Each argument: a number of the input, or the address of what the input has left.
  std::string memory(input.take(input.byte() * 16));
  for (uint64_t& argument : notice.args) {
    argument = input.flag() ? reinterpret_cast<uint64_t>(memory.data()) + input.byte() % 64
                            : input.number<uint64_t>();
  }
  const std::string_view rest = input.rest();

  const std::string by_number = sandbox::name_of_call(notice.arch, notice.nr);
  check_words(by_number);
  check_words(sandbox::describe_arguments(by_number, notice));
  const std::string words = sandbox::describe_arguments(kCalls[which % std::size(kCalls)], notice);
  check_words(words);
  VERIFY(words.size() <= sandbox::kMaxArgument + 64);

  rule_on(notice, static_cast<sandbox::Profile>(which % 4));

  const std::string path = sandbox::escaped(rest);
  check_words(path);
  VERIFY(path.size() <= sandbox::kMaxArgument);
  check_words(sandbox::escaped(sandbox::address_text(rest)));
  return 0;
}
