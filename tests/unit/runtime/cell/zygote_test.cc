#include "runtime/cell/zygote.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <string>

#include "sandbox/sys/file.h"

using runtime::Afterwards;
using runtime::Loop;
using runtime::Zygote;
using runtime::ZygotePlan;
using State = runtime::TemplateHandle::State;

namespace {

// A launcher that hangs up, and then takes until its pipe is closed to end.
class SlowLauncher {
 public:
  SlowLauncher() : folder_(::mkdtemp(name_)) {
    REQUIRE(::mkfifo(pipe().c_str(), 0600) == 0);
    std::ofstream(script()) << "#!/bin/sh\nexec 3>&-\ncat " << pipe()
                            << "\necho it was slow\nexit 9\n";
    REQUIRE(::chmod(script().c_str(), 0700) == 0);
  }
  ~SlowLauncher() { std::filesystem::remove_all(folder_); }
  std::string script() const { return folder_ + "/launcher"; }
  std::string pipe() const { return folder_ + "/pipe"; }

 private:
  char name_[32] = "/tmp/zygo-launcher-XXXXXX";
  std::string folder_;
};

}  // namespace

TEST_CASE("a template that hangs up and does not end keeps nothing else waiting", "[zygote]") {
  SlowLauncher launcher;
  ZygotePlan plan;
  plan.launcher = launcher.script();

  Loop loop;
  {
    auto zygote = Zygote::start(loop, plan, [&loop] { loop.stop(); });
    REQUIRE(zygote.ok());
    auto end = sys::open(launcher.pipe().c_str(), O_WRONLY);  // it has hung up when this returns
    REQUIRE(end.ok());
    State meanwhile = State::kFailed;
    Afterwards turn(loop, [&] {  // behind the end of the connection, which the loop has heard of
      meanwhile = (*zygote)->state();
      end->reset();
    });
    turn.start();
    loop.run();

    CHECK(meanwhile == State::kStarting);
    CHECK((*zygote)->state() == State::kFailed);
    CHECK((*zygote)->reason() == "it was slow");
  }
}

TEST_CASE("a template that is dropped while it ends is reaped", "[zygote]") {
  SlowLauncher launcher;
  ZygotePlan plan;
  plan.launcher = launcher.script();

  Loop loop;
  auto zygote = Zygote::start(loop, plan, [] {});
  REQUIRE(zygote.ok());
  REQUIRE(sys::open(launcher.pipe().c_str(), O_WRONLY).ok());
  Afterwards turn(loop, [&loop] { loop.stop(); });
  turn.start();
  loop.run();
  zygote->reset();

  errno = 0;
  CHECK(::waitpid(-1, nullptr, WNOHANG) == -1);
  CHECK(errno == ECHILD);
}
