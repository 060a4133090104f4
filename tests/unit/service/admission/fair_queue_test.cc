#include "service/admission/fair_queue.h"

#include <catch2/catch.hpp>
#include <vector>

#include "service/admission/service_rate.h"

namespace service {
namespace {

std::vector<FairQueue::Ticket> all_of(FairQueue& queue) {
  std::vector<FairQueue::Ticket> order;
  while (auto ticket = queue.pop()) order.push_back(*ticket);
  return order;
}

using Tickets = std::vector<FairQueue::Ticket>;

}  // namespace

TEST_CASE("a client with many jobs does not keep another one waiting", "[service][queue]") {
  FairQueue queue;
  for (FairQueue::Ticket ticket : {1, 2, 3, 4}) queue.push(ticket, "greedy", 0);
  for (FairQueue::Ticket ticket : {11, 12}) queue.push(ticket, "modest", 0);

  CHECK(all_of(queue) == Tickets{1, 11, 2, 12, 3, 4});
}

TEST_CASE("a higher priority goes first, among the jobs of one client", "[service][queue]") {
  FairQueue queue;
  queue.push(1, "a", 0);
  queue.push(2, "a", -5);
  queue.push(3, "b", 7);
  queue.push(4, "a", 7);
  CHECK(queue.size_of("a") == 3);

  CHECK(all_of(queue) == Tickets{4, 3, 1, 2});
  CHECK(queue.size_of("a") == 0);
}

TEST_CASE("who calls all that it has urgent is not served before others", "[service][queue]") {
  FairQueue queue;
  for (FairQueue::Ticket ticket : {1, 2, 3}) queue.push(ticket, "greedy", 100);
  queue.push(11, "modest", 0);

  CHECK(all_of(queue) == Tickets{1, 11, 2, 3});
}

TEST_CASE("a job that is withdrawn leaves the turns of the others alone", "[service][queue]") {
  FairQueue queue;
  for (FairQueue::Ticket ticket : {1, 2}) queue.push(ticket, "a", 0);
  queue.push(3, "b", 0);
  queue.push(4, "c", 0);

  CHECK(queue.remove(3));
  CHECK_FALSE(queue.remove(3));
  CHECK(queue.size() == 3);
  CHECK(all_of(queue) == Tickets{1, 4, 2});
  CHECK(queue.size() == 0);
}

TEST_CASE("a client that has come back waits for its turn like the others", "[service][queue]") {
  FairQueue queue;
  queue.push(1, "a", 0);
  queue.push(2, "b", 0);
  CHECK(queue.pop() == FairQueue::Ticket{1});
  queue.push(3, "a", 0);

  CHECK(all_of(queue) == Tickets{2, 3});
}

TEST_CASE("the wait is the queue's length by the measured rate", "[service][queue]") {
  using std::chrono::milliseconds;
  ServiceRate rate(4);
  CHECK_FALSE(rate.wait_behind(100));
  CHECK(rate.within(milliseconds(1000)) == 0);
  CHECK(rate.retry_after(100) == 1);

  for (int i = 0; i < 10; ++i) rate.ended(milliseconds(200));

  CHECK(rate.wait_behind(100)->count() == 5000);
  CHECK(rate.within(milliseconds(1000)) == 20);
  CHECK(rate.retry_after(100) == 5);
  CHECK(rate.retry_after(101) == 6);
  CHECK(rate.retry_after(0) == 1);
  CHECK(rate.retry_after(10'000'000) == 600);
}

TEST_CASE("the rate follows when jobs become slower", "[service][queue]") {
  using std::chrono::milliseconds;
  ServiceRate rate(1);
  rate.ended(milliseconds(1));
  for (int i = 0; i < 200; ++i) rate.ended(milliseconds(100));

  CHECK(rate.wait_behind(1)->count() > 98);
}

}  // namespace service
