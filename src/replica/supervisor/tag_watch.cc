#include "replica/supervisor/tag_watch.h"

#include <algorithm>

namespace trainyard::replica {

void TagWatch::OnReadable(Time now) {
  const Time began = std::chrono::steady_clock::now();
  file_.OnReadable();
  Read();
  rest_end_ = now + (std::chrono::steady_clock::now() - began) * kTagsRest;
}

void TagWatch::Read() {
  if (const std::optional<std::string> contents = file_.Read()) tags_.Read(*contents);
}

TagWatch::Time TagWatch::deadline() const noexcept {
  return std::min(tags_.changed() ? due_ : Time::max(), rest_end_.value_or(Time::max()));
}

std::vector<v1::MetricReport> TagWatch::TakeDue(Time now) {
  if (rest_end_ && now >= *rest_end_) rest_end_.reset();
  if (!tags_.changed() || now < due_) return {};
  due_ = now + kTagsInterval;
  return tags_.TakeChanged();
}

}  // namespace trainyard::replica
