#include "cluster/router/assignments.h"

#include <algorithm>

#include "sandbox/sys/result.h"

namespace cluster {

Assignments::Number Assignments::assign(Task task, Pilot pilot) {
  const Number number = ++last_;
  assignments_[number] = {task, pilot};
  tasks_[task].numbers.push_back(number);
  pilots_[pilot].push_back(number);
  return number;
}

std::optional<Assignments::Task> Assignments::began(Number number) {
  const auto found = assignments_.find(number);
  if (found == assignments_.end()) return std::nullopt;
  found->second.began = true;
  return found->second.task;
}

std::optional<Assignments::Task> Assignments::task_of(Number number) const {
  const auto found = assignments_.find(number);
  if (found == assignments_.end()) return std::nullopt;
  return found->second.task;
}

std::optional<Assignments::Pilot> Assignments::pilot_of(Number number) const {
  const auto found = assignments_.find(number);
  if (found == assignments_.end()) return std::nullopt;
  return found->second.pilot;
}

std::optional<Assignments::Task> Assignments::ended(Number number, std::vector<Place>& others) {
  const auto found = assignments_.find(number);
  if (found == assignments_.end()) {
    ++doubles_;
    return std::nullopt;
  }
  const Task task = found->second.task;
  forget(number);
  others = drop(task);
  return task;
}

std::optional<Assignments::Task> Assignments::returned(Number number) {
  const auto found = assignments_.find(number);
  if (found == assignments_.end()) return std::nullopt;
  const Task task = found->second.task;
  forget(number);
  return is_held(tasks_.at(task)) ? std::nullopt : std::optional<Task>(task);
}

std::vector<Assignments::Place> Assignments::drop(Task task) {
  const std::vector<Place> places = places_of(task);
  for (const Place& place : places) forget(place.number);
  tasks_.erase(task);
  return places;
}

Assignments::Lost Assignments::lapsed(Pilot pilot) {
  Lost lost;
  const auto found = pilots_.find(pilot);
  if (found == pilots_.end()) return lost;
  for (const Number number : found->second) {
    Assignment& assignment = assignments_.at(number);
    if (!assignment.lapsed) count_loss(assignment, lost);
  }
  return lost;
}

Assignments::Lost Assignments::lost(Pilot pilot) {
  Lost lost;
  const auto found = pilots_.find(pilot);
  if (found == pilots_.end()) return lost;
  const std::vector<Number> numbers = found->second;
  for (const Number number : numbers) {
    Assignment& assignment = assignments_.at(number);
    if (!assignment.lapsed) count_loss(assignment, lost);
    forget(number);
  }
  return lost;
}

// Of a place that is not counted on any more.
void Assignments::count_loss(Assignment& assignment, Lost& lost) {
  assignment.lapsed = true;
  Record& record = tasks_.at(assignment.task);
  if (assignment.began) ++record.losses;
  if (is_held(record)) return;
  if (record.losses >= kMostLosses) return lost.given_up.push_back(assignment.task);
  ++restarts_;
  lost.again.push_back(assignment.task);
}

// Somebody has it whose lease is not over.
bool Assignments::is_held(const Record& record) const {
  return std::ranges::any_of(record.numbers,
                             [this](Number each) { return !assignments_.at(each).lapsed; });
}

std::vector<Assignments::Place> Assignments::places_of(Task task) const {
  std::vector<Place> places;
  const auto found = tasks_.find(task);
  if (found == tasks_.end()) return places;
  for (const Number number : found->second.numbers)
    places.push_back({assignments_.at(number).pilot, number});
  return places;
}

bool Assignments::has_begun(Task task) const {
  const auto found = tasks_.find(task);
  return found != tasks_.end() && std::ranges::any_of(found->second.numbers, [this](Number each) {
           return assignments_.at(each).began;
         });
}

size_t Assignments::size_of(Pilot pilot) const {
  const auto found = pilots_.find(pilot);
  return found == pilots_.end() ? 0 : found->second.size();
}

size_t Assignments::begun_of(Pilot pilot) const {
  const auto found = pilots_.find(pilot);
  if (found == pilots_.end()) return 0;
  return static_cast<size_t>(std::ranges::count_if(
      found->second, [this](Number each) { return assignments_.at(each).began; }));
}

// The task's record stays: it counts what was lost.
void Assignments::forget(Number number) {
  const auto found = assignments_.find(number);
  VERIFY(found != assignments_.end());
  std::erase(tasks_.at(found->second.task).numbers, number);
  std::vector<Number>& of_pilot = pilots_.at(found->second.pilot);
  std::erase(of_pilot, number);
  if (of_pilot.empty()) pilots_.erase(found->second.pilot);
  assignments_.erase(found);
}

}  // namespace cluster
