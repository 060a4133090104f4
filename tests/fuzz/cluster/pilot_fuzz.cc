// Reads what a router and its pilots may send to each other: frames and messages are read whole or
// not at all, and a fleet of two pilots, whose messages the input is, gives each job one verdict.

#include <array>
#include <cstdint>

#include "cluster/router/fleet.h"
#include "cluster/wire/frames.h"
#include "cluster/wire/messages.h"
#include "runtime/remote/job_wire.h"

namespace {

using namespace cluster;

struct Nobody : PilotLink {
  void send(std::string_view) override {}
};

template <typename T>
void read_and_write(std::string_view input) {
  runtime::WireReader in(input);
  T value;
  in(value);
  if (!in.at_end()) return;
  runtime::WireWriter out;
  out(value);
  VERIFY(out.bytes() == input);
}

void read_frames(std::string_view input) {
  FrameReader frames(input);
  FrameWriter again;
  while (const auto frame = frames.next()) again.add(*frame);
  if (frames.ok()) VERIFY(again.take() == input);
}

// Each byte is a step of a small cluster's life.
void live(std::string_view steps) {
  std::array<unsigned, 4> verdicts{};
  {
    Fleet fleet({.seed = 1});
    Nobody link;
    std::array<Fleet::Pilot, 2> pilots{};
    const auto enter = [&](size_t which) {
      pilots[which] = fleet.enter({.name = "p", .workers = 2, .templates = {"python"}}, "", link);
    };
    enter(0);
    enter(1);
    for (unsigned& count : verdicts) {
      runtime::Job job;
      job.watch = std::make_shared<runtime::JobWatch>();
      fleet.submit(std::move(job), [&count](runtime::JobResult) { ++count; });
    }
    for (const char step : steps) {
      const auto byte = static_cast<unsigned char>(step);
      const size_t which = byte & 1;
      const uint64_t number = (byte >> 1) & 15;
      const Fleet::Pilot pilot = pilots[which];
      switch (byte >> 5) {
        case 0:
          fleet.began(pilot, number);
          break;
        case 1:
          fleet.returned(pilot, number);
          break;
        case 2:
          fleet.leave(pilot);
          enter(which);
          break;
        case 3:
          fleet.set_lapsed(pilot, number > 7);
          break;
        case 4:
          fleet.set_status(pilot, {.under_way = static_cast<uint32_t>(number)});
          break;
        case 5:
          fleet.set_draining(pilot);
          break;
        case 6:
          fleet.news(pilot, number, runtime::LiveIo::Stage::kRunning, "x", "");
          break;
        default:
          fleet.result(pilot, number, true, {});
      }
    }
  }
  for (const unsigned count : verdicts) VERIFY(count == 1);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  read_frames(input);
  read_and_write<Hello>(input);
  read_and_write<Welcome>(input);
  read_and_write<Status>(input);
  read_and_write<StartHead>(input);
  live(input.substr(0, 400));
  return 0;
}
