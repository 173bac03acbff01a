#include "rules/placement/queue.h"

#include <algorithm>
#include <memory>
#include <tuple>
#include <utility>

#include "base/check.h"
#include "rules/placement/gang.h"
#include "rules/placement/project_use.h"

namespace trainyard::placement {
namespace {

bool ComesFirst(const Gang* a, const Gang* b) {
  return std::tuple(-a->priority, a->create_time, a->uid) < std::tuple(-b->priority, b->create_time, b->uid);
}

/// The gang's place, or the place where it would be inserted.
std::vector<const Gang*>::const_iterator Place(const std::vector<const Gang*>& order, const Gang& gang) {
  return std::ranges::lower_bound(order, &gang, ComesFirst);
}

}  // namespace

/// Merges the orders of all projects.
class Queue::Merge {
 public:
  explicit Merge(const std::map<std::string, Project>& projects) {
    for (const auto& [name, project] : projects)
      heads_.push_back({.key = KeyOf(project, 0, 0), .project = &project});
    std::ranges::make_heap(heads_, std::greater{}, &Head::key);
  }

  const Gang* Next() {
    if (heads_.empty()) return nullptr;
    std::ranges::pop_heap(heads_, std::greater{}, &Head::key);
    Head& head = heads_.back();
    const Gang* gang = head.project->order[head.index];
    head.before += ProjectUses::ChargeOf(gang->share);
    if (++head.index == head.project->order.size()) {
      heads_.pop_back();
    } else {
      head.key = KeyOf(*head.project, head.index, head.before);
      std::ranges::push_heap(heads_, std::greater{}, &Head::key);
    }
    return gang;
  }

 private:
  struct Head {
    Key key;
    const Project* project = nullptr;
    std::size_t index = 0;
    double before = 0;
  };
  std::vector<Head> heads_;
};

Queue::Key Queue::KeyOf(const Project& project, std::size_t index, double before) {
  const Gang& gang = *project.order[index];
  if (project.overdue) {  // all of its gangs, because the first one may never be able to start
    const double since = std::chrono::duration<double>(project.since.time_since_epoch()).count();
    return {0, since, SysTime(std::chrono::nanoseconds(index)), gang.uid};
  }
  return {1, (project.standing.score + before) / project.standing.weight, gang.create_time, gang.uid};
}

const std::vector<double>& Queue::Before(const Project& project) {
  std::vector<double>& before = project.before;
  if (before.empty()) before.push_back(0);
  while (before.size() < project.order.size())
    before.push_back(before.back() + ProjectUses::ChargeOf(project.order[before.size() - 1]->share));
  return before;
}

void Queue::Add(Gang gang) {
  const std::int64_t uid = gang.uid;
  const auto [added, is_new] = gangs_.emplace(uid, std::move(gang));
  TY_CHECK(is_new);
  const Gang& kept = added->second;
  Project& project = projects_[kept.project];
  project.since = project.order.empty() ? kept.create_time : std::min(project.since, kept.create_time);
  const auto place = Place(project.order, kept);
  const auto index = static_cast<std::size_t>(place - project.order.begin());
  project.order.insert(place, &kept);
  project.before.resize(std::min(project.before.size(), index + 1));
  Order& line = project.lines[kept.line];
  line.insert(Place(line, kept), &kept);
}

std::optional<Gang> Queue::Take(std::int64_t uid) {
  const auto found = gangs_.find(uid);
  if (found == gangs_.end()) return std::nullopt;
  const auto owner = projects_.find(found->second.project);
  Project& project = owner->second;
  const auto place = Place(project.order, found->second);
  const auto index = static_cast<std::size_t>(place - project.order.begin());
  project.order.erase(place);
  project.before.resize(std::min(project.before.size(), index + 1));
  const auto line = project.lines.find(found->second.line);
  line->second.erase(Place(line->second, found->second));
  if (line->second.empty()) project.lines.erase(line);
  if (project.order.empty()) projects_.erase(owner);
  Gang gang = std::move(found->second);
  gangs_.erase(found);
  return gang;
}

void Queue::SetStandings(const std::map<std::string, Standing>& standings, SysTime now) {
  for (auto& [name, project] : projects_) {
    const auto known = standings.find(name);
    project.standing = known == standings.end() ? Standing() : known->second;
    TY_CHECK(project.standing.weight > 0);
    project.since = std::max(project.since, project.standing.last_admitted.value_or(project.since));
    project.overdue = now - project.since > kPatience;
  }
}

std::vector<std::string> Queue::Projects() const {
  std::vector<std::string> names;
  for (const auto& [name, project] : projects_) names.push_back(name);
  return names;
}

NextGang Queue::Walk() const {
  if (projects_.size() == 1) {
    const Order& order = projects_.begin()->second.order;
    return [&order, index = std::size_t{0}]() mutable {
      return index < order.size() ? order[index++] : nullptr;
    };
  }
  return [merge = Merge(projects_)]() mutable { return merge.Next(); };
}

std::vector<const Gang*> Queue::InOrder() const {
  std::vector<const Gang*> order;
  const NextGang next = Walk();
  while (const Gang* gang = next()) order.push_back(gang);
  return order;
}

const Gang* Queue::Find(std::int64_t uid) const {
  const auto found = gangs_.find(uid);
  return found == gangs_.end() ? nullptr : &found->second;
}

/// How many of the project's gangs of that line come before the key.
std::size_t Queue::CountBefore(const Project& project, int line, const Key& key) {
  const auto gangs = project.lines.find(line);
  if (gangs == project.lines.end()) return 0;
  const std::vector<double>& before = Before(project);
  std::size_t first = 0;  // keys only grow within a project
  std::size_t end = project.order.size();
  while (first < end) {
    const std::size_t middle = first + (end - first) / 2;
    if (KeyOf(project, middle, before[middle]) < key) {
      first = middle + 1;
    } else {
      end = middle;
    }
  }
  if (first == project.order.size()) return gangs->second.size();
  return static_cast<std::size_t>(Place(gangs->second, *project.order[first]) - gangs->second.begin());
}

std::int64_t Queue::PositionOf(const Gang& gang) const {
  const Project& own = projects_.at(gang.project);
  const Order& line = own.lines.at(gang.line);
  std::int64_t position = Place(line, gang) - line.begin() + 1;
  if (projects_.size() == 1) return position;
  const auto index = static_cast<std::size_t>(Place(own.order, gang) - own.order.begin());
  const Key key = KeyOf(own, index, Before(own)[index]);
  for (const auto& [name, project] : projects_) {
    if (&project != &own) position += static_cast<std::int64_t>(CountBefore(project, gang.line, key));
  }
  return position;
}

const Gang& Queue::FirstOf(const Gang& gang) const {
  const Gang* first = nullptr;
  Key least;
  for (const auto& [name, project] : projects_) {
    const auto line = project.lines.find(gang.line);
    if (line == project.lines.end()) continue;
    const Gang& front = *line->second.front();
    if (projects_.size() == 1) return front;
    const auto index = static_cast<std::size_t>(Place(project.order, front) - project.order.begin());
    const Key key = KeyOf(project, index, Before(project)[index]);
    if (first == nullptr || key < least) {
      first = &front;
      least = key;
    }
  }
  return *first;
}

bool Queue::IsOverdue(const std::string& project) const {
  const auto found = projects_.find(project);
  return found != projects_.end() && found->second.overdue;
}

Wait Queue::TurnOf(const Gang& gang, std::string_view blocker, const Naming& naming) const {
  const std::int64_t position = PositionOf(gang);
  if (position == 1) return TurnAfter(blocker, position);
  const std::string first = naming.Job(LabelOf(FirstOf(gang)), gang.project);
  return {.position = position,
          .reason =
              "Waiting for its turn: " + Counted(position - 1, "job") + " before it, " + first + " is next.",
          .unblock = "It moves up when " + first + " starts or is cancelled.",
          .is_turn = true};
}

Wait Queue::TurnAfter(std::string_view blocker, std::int64_t position) {
  return {.position = position,
          .reason = "Waiting for its turn: " + std::string(blocker) + " is before it.",
          .unblock = "It is next when " + std::string(blocker) + " has started or is cancelled.",
          .is_turn = true};
}

}  // namespace trainyard::placement
