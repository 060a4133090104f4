#include "runtime/scheduler/admission/admission_queue.h"

#include <catch2/catch.hpp>
#include <string>

#include "runtime/job/interactive_pair.h"

namespace runtime {
namespace {

TaskPtr task(const std::string& id, int priority = 0,
             const std::shared_ptr<InteractivePair>& pairing = nullptr) {
  auto made = std::make_unique<Task>();
  made->job.id = id;
  made->job.priority = priority;
  made->job.pairing = pairing;
  return made;
}

std::string order_of(AdmissionQueue& admission) {
  std::string order;
  while (TaskPtr next = admission.take({})) order += next->job.id + " ";
  return order;
}

TEST_CASE("the highest priority is first, then the oldest", "[admission]") {
  AdmissionQueue admission;
  admission.put(task("a"));
  admission.put(task("b", 5));
  admission.put(task("c"));
  admission.put_back(task("d"));
  CHECK(order_of(admission) == "b d a c ");
  CHECK(admission.empty());
}

// Or two cells could each wait for a side that is behind the other's.
TEST_CASE("who takes one side of a conversation leaves the other to the next", "[admission]") {
  AdmissionQueue admission;
  const auto early = InteractivePair::create().value(), urgent = InteractivePair::create().value();
  admission.put_both(task("program", 0, early), task("interactor", 0, early));
  CHECK(admission.take_side({})->job.id == "program");
  CHECK_FALSE(admission.empty());

  admission.put_both(task("urgent program", 10, urgent), task("urgent interactor", 10, urgent));
  admission.put_back(task("back", 10));
  CHECK(admission.take_side({})->job.id == "interactor");
  CHECK_FALSE(admission.take_side({}));
  CHECK(order_of(admission) == "back urgent program urgent interactor ");
}

TEST_CASE("a side that is due is withdrawn like any other", "[admission]") {
  AdmissionQueue admission;
  const auto pairing = InteractivePair::create().value();
  auto both = [&] {
    TaskPtr interactor = task("interactor", 0, pairing);
    interactor->job.watch = std::make_shared<JobWatch>();
    interactor->job.watch->withdrawn = true;
    admission.put_both(task("program", 0, pairing), std::move(interactor));
    CHECK(admission.take({})->job.id == "program");
  };
  both();
  CHECK(admission.take_withdrawn().size() == 1);
  CHECK(admission.empty());
  both();
  CHECK(admission.take_all().size() == 1);
  CHECK(admission.empty());
}

TEST_CASE("a side that lost its cell is waited for, unless the other is about to begin",
          "[pairing]") {
  using Fate = InteractivePair::Fate;
  using Side = InteractivePair::Side;
  const auto pairing = InteractivePair::create().value();
  int woken = 0;
  auto wake = [&woken] { ++woken; };

  CHECK(pairing->arrive(Side::kProgram, wake) == Fate::kWaiting);
  CHECK(pairing->retreat(Side::kProgram));
  CHECK(pairing->arrive(Side::kInteractor, wake) == Fate::kWaiting);
  CHECK(pairing->retreat(Side::kProgram));  // again, before it has come
  CHECK(pairing->arrive(Side::kProgram, wake) == Fate::kTogether);
  CHECK(woken == 1);
  CHECK_FALSE(pairing->retreat(Side::kInteractor));
  CHECK(pairing->fate() == Fate::kTogether);
}

}  // namespace
}  // namespace runtime
