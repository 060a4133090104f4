#include "runtime/cell/wire_decode.h"

#include <catch2/catch.hpp>
#include <cerrno>
#include <cstring>
#include <limits>
#include <vector>

#include "sandbox/sys/socket.h"

using namespace runtime;

namespace {

constexpr sys::Nanoseconds kNow{1'000'000};

shim::JobDone well_ended() {
  shim::JobDone done;
  done.nonce = 7;
  done.cpu_ns = 500;
  done.max_rss_kb = 9000;
  done.forked_at_ns = 200;
  done.confined_at_ns = 100;  // the child was faster than the parent's return from fork
  done.ended_at_ns = 900;
  done.clean = 1;
  return done;
}

template <typename Change>
bool accepted(Change change) {
  shim::JobDone done = well_ended();
  change(done);
  return decode_cell_frame(sys::bytes_of(done), 0, kNow).has_value();
}

}  // namespace

TEST_CASE("each kind of frame is taken as it was sent", "[frames]") {
  shim::CellBorn born;
  born.cell = 12;
  shim::CellReady ready;
  ready.scratch_device = 99;
  ready.has_listener = 1;

  auto born_frame = decode_template_frame(sys::bytes_of(born), 1);
  auto ready_frame = decode_cell_frame(sys::bytes_of(ready), 2, kNow);
  auto done_frame = decode_cell_frame(sys::bytes_of(well_ended()), 0, kNow);

  CHECK(decode_template_frame(sys::bytes_of(shim::TemplateBorn{}), 1));
  CHECK(decode_template_frame(sys::bytes_of(shim::TemplateReady{}), 0));
  REQUIRE(born_frame);
  CHECK(std::get<shim::CellBorn>(*born_frame).cell == 12);
  REQUIRE(ready_frame);
  CHECK(std::get<shim::CellReady>(*ready_frame).scratch_device == 99);
  REQUIRE(done_frame);
  CHECK(std::get<shim::JobDone>(*done_frame).ended_at_ns == 900);
}

TEST_CASE("a frame of another size, kind or sender is none", "[frames]") {
  shim::JobDone done = well_ended();
  auto bytes = sys::bytes_of(done);
  std::vector<std::byte> longer(bytes.begin(), bytes.end());
  longer.push_back(std::byte{0});

  CHECK_FALSE(decode_cell_frame({}, 0, kNow));
  CHECK_FALSE(decode_cell_frame(bytes.first(bytes.size() - 1), 0, kNow));
  CHECK_FALSE(decode_cell_frame(longer, 0, kNow));
  CHECK_FALSE(decode_template_frame(bytes, 0));
  CHECK_FALSE(decode_cell_frame(sys::bytes_of(shim::CellBorn{}), 1, kNow));
  done.tag = 5;
  CHECK_FALSE(decode_cell_frame(sys::bytes_of(done), 0, kNow));
}

TEST_CASE("a frame comes with the descriptors of its kind, no fewer and no more", "[frames]") {
  shim::CellReady ready, unwatched, failed;
  ready.has_listener = 1;
  failed.failure = {shim::Step::kScratch, ENOMEM};
  shim::CellBorn unborn;
  unborn.failure = {shim::Step::kClone, EAGAIN};

  CHECK_FALSE(decode_template_frame(sys::bytes_of(shim::TemplateBorn{}), 0));
  CHECK_FALSE(decode_template_frame(sys::bytes_of(shim::TemplateReady{}), 1));
  CHECK_FALSE(decode_template_frame(sys::bytes_of(shim::CellBorn{}), 0));
  CHECK_FALSE(decode_template_frame(sys::bytes_of(shim::CellBorn{}), 2));
  CHECK(decode_template_frame(sys::bytes_of(unborn), 0));
  for (size_t count = 0; count < 4; ++count) {
    CHECK(decode_cell_frame(sys::bytes_of(ready), count, kNow).has_value() == (count == 2));
    CHECK(decode_cell_frame(sys::bytes_of(unwatched), count, kNow).has_value() == (count == 1));
    CHECK(decode_cell_frame(sys::bytes_of(failed), count, kNow).has_value() == (count == 0));
  }
  CHECK_FALSE(decode_cell_frame(sys::bytes_of(well_ended()), 1, kNow));
  ready.has_holder = 1;  // its pidfd comes, too
  for (size_t count = 0; count < 5; ++count)
    CHECK(decode_cell_frame(sys::bytes_of(ready), count, kNow).has_value() == (count == 3));
  ready.image_bytes = uint64_t{1} << 60;
  CHECK_FALSE(decode_cell_frame(sys::bytes_of(ready), 3, kNow));
}

TEST_CASE("a failure names a step that exists and an error that the kernel knows", "[frames]") {
  auto with_failure = [](shim::Step step, int error) {
    return accepted([&](shim::JobDone& done) { done.failure = {step, error}; });
  };

  CHECK(with_failure(shim::Step::kLandlock, EPERM));
  CHECK_FALSE(with_failure(shim::Step::kNone, EPERM));
  CHECK_FALSE(with_failure(shim::Step::kLandlock, 0));
  CHECK_FALSE(with_failure(shim::Step::kLandlock, -1));
  CHECK_FALSE(with_failure(shim::Step::kLandlock, 4096));
  CHECK_FALSE(with_failure(static_cast<shim::Step>(1000), EPERM));
}

TEST_CASE("the end of a job has a possible status, possible figures and moments that were",
          "[frames]") {
  constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
  using Done = shim::JobDone;

  CHECK(accepted([](Done& done) { done.code = 255; }));
  CHECK(accepted([](Done& done) { done.signalled = 1, done.code = 64; }));
  CHECK(
      accepted([](Done& done) { done.forked_at_ns = done.confined_at_ns = done.ended_at_ns = 0; }));
  CHECK_FALSE(accepted([](Done& done) { done.code = 256; }));
  CHECK_FALSE(accepted([](Done& done) { done.code = -1; }));
  CHECK_FALSE(accepted([](Done& done) { done.signalled = 1, done.code = 0; }));
  CHECK_FALSE(accepted([](Done& done) { done.signalled = 1, done.code = 0x7fffffff; }));
  CHECK_FALSE(accepted([](Done& done) { done.clean = 2; }));
  CHECK(accepted([](Done& done) { done.stays = 1; }));
  CHECK_FALSE(accepted([](Done& done) { done.stays = 2; }));
  CHECK_FALSE(accepted([](Done& done) { done.cpu_ns = -1; }));
  CHECK_FALSE(accepted([](Done& done) { done.cpu_ns = kMost; }));
  CHECK_FALSE(accepted([](Done& done) { done.max_rss_kb = kMost; }));
  CHECK(accepted([](Done& done) { done.rollback = shim::Rollback::kLost; }));
  CHECK_FALSE(accepted([](Done& done) { done.rollback = static_cast<shim::Rollback>(4); }));
  CHECK_FALSE(accepted([](Done& done) { done.rollback_ns = -1; }));
  CHECK_FALSE(accepted([](Done& done) { done.rollback_ns = kMost; }));
  CHECK_FALSE(accepted([](Done& done) { done.ended_at_ns = kNow.count() + 1; }));
  CHECK_FALSE(accepted([](Done& done) { done.ended_at_ns = 150; }));
  CHECK_FALSE(accepted([](Done& done) { done.forked_at_ns = -kMost; }));
  CHECK_FALSE(accepted([](Done& done) { done.ended_at_ns = 0; }));  // confined, but never ended
}

TEST_CASE("what tells of a step's writes comes with its frame", "[frames]") {
  const shim::JobTracked tracked;
  for (const size_t count : {size_t{0}, size_t{1}})
    CHECK(decode_cell_frame(sys::bytes_of(tracked), count, kNow));
  CHECK_FALSE(decode_cell_frame(sys::bytes_of(tracked), 2, kNow));
}
