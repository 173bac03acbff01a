#include "rules/jobs/images.h"

#include <algorithm>

namespace trainyard::jobs {
namespace {

using control::v1::Event;
using control::v1::ImageRecord;
using control::v1::JobRecord;

/// A result is recorded once: afterwards it has no unresolved image.
bool IsNews(const JobRecord& job, const Event::ImagesResolved& resolved) {
  return std::ranges::any_of(resolved.images(), [&job](const ImageRecord& found) {
    return std::ranges::any_of(job.images(), [&found](const ImageRecord& image) {
      return image.image() == found.image() && IsUnresolved(image);
    });
  });
}

SysTime NextLookUp(const ImageObservation& seen) {
  std::chrono::milliseconds pause = seen.first_pause;
  for (int i = 1; i < seen.unanswered && pause < kImagePauseMax; ++i) pause *= 2;
  return seen.asked_time + std::min<std::chrono::milliseconds>(pause, kImagePauseMax);
}

}  // namespace

bool IsUnresolved(const ImageRecord& image) { return image.digest().empty(); }

bool HasUnresolvedImages(const JobRecord& job) { return std::ranges::any_of(job.images(), IsUnresolved); }

std::optional<ImageStep> NextImageStep(const JobRecord& job, const ImageObservation& seen, SysTime now) {
  if (!HasUnresolvedImages(job)) return std::nullopt;
  if (!seen.refusal.empty()) {
    Event event;
    event.mutable_concluded()->set_outcome(ml::v1::Job::FAILED);
    event.mutable_concluded()->set_error_message(seen.refusal);
    return event;
  }
  if (seen.resolved && IsNews(job, *seen.resolved)) {
    Event event;
    *event.mutable_images_resolved() = *seen.resolved;
    return event;
  }
  if (seen.asking) return AwaitImages{};
  if (seen.unanswered == 0) return ResolveImages{};
  const SysTime next = NextLookUp(seen);
  if (now < next) return next;
  return ResolveImages{};
}

}  // namespace trainyard::jobs
