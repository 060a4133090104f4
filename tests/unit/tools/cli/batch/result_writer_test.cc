// The writer of a batch: what shards push arrives whole and in order, and is told when it has left.
#include "tools/cli/batch/result_writer.h"

#include <fcntl.h>
#include <unistd.h>

#include <atomic>
#include <catch2/catch.hpp>
#include <csignal>
#include <string>
#include <thread>

using namespace std::chrono_literals;

namespace {

struct Left {
  std::atomic<size_t> lines{0}, bytes{0};
};

struct Pipe {
  Pipe() {
    int ends[2];
    REQUIRE(::pipe2(ends, O_CLOEXEC) == 0);
    reader = sys::OwnedFd(ends[0]);
    writer = sys::OwnedFd(ends[1]);
  }
  std::string read(size_t bytes) const {
    std::string text(bytes, '\0');
    size_t got = 0;
    while (got < bytes) {
      const ssize_t n = ::read(reader.get(), text.data() + got, bytes - got);
      REQUIRE(n > 0);
      got += static_cast<size_t>(n);
    }
    return text;
  }
  sys::OwnedFd reader, writer;
};

std::unique_ptr<cli::ResultWriter> start(int out, Left& left) {
  auto writer = cli::ResultWriter::start(out, [&left](size_t lines, size_t bytes) {
    left.lines += lines;
    left.bytes += bytes;
  });
  REQUIRE(writer.ok());
  return std::move(writer).value();
}

}  // namespace

TEST_CASE("lines of every length leave whole and in order", "[batch]") {
  Pipe pipe;
  Left left;
  auto writer = start(pipe.writer.get(), left);
  std::string all;
  size_t lines = 0;
  for (size_t size : {1U, 100U, 65536U, 3U, 1U << 20, 70000U, 2U, 2U}) {
    std::string line(size, static_cast<char>('a' + lines++));
    line += '\n';
    all += line;
    writer->push(std::move(line));  // returns although nobody reads: a pipe holds 64 KiB
  }
  CHECK(pipe.read(all.size()) == all);
  CHECK(writer->drain(10s));
  CHECK(left.lines == lines);
  CHECK(left.bytes == all.size());
}

TEST_CASE("lines whose reader has gone are dropped, and told as well", "[batch]") {
  Pipe pipe;
  Left left;
  auto writer = start(pipe.writer.get(), left);
  pipe.reader.reset();
  const auto before = std::signal(SIGPIPE, SIG_IGN);  // as the program does
  for (int i = 0; i < 3; ++i) writer->push("gone\n");
  CHECK_FALSE(writer->drain(10s));
  CHECK(writer->state() == cli::ResultWriter::State::kReaderGone);
  std::signal(SIGPIPE, before);
  CHECK(left.lines == 3);
  CHECK(left.bytes == 15);
}
