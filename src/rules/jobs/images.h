#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <variant>

#include "base/clock.h"
#include "trainyard/control/v1/record.pb.h"

/// A job whose images' registries did not answer when it was created waits in the queue until they do
/// (docs/adr/0033-a-registry-that-does-not-answer.md). Pure: any thread.
namespace trainyard::jobs {

/// From the end of a look-up that no registry answered to the next one: doubles up to this.
inline constexpr std::chrono::seconds kImagePauseMax{60};

/// Whether it is not known yet what the image is.
[[nodiscard]] bool IsUnresolved(const control::v1::ImageRecord& image);
[[nodiscard]] bool HasUnresolvedImages(const control::v1::JobRecord& job);

/// What is known of the look-ups beyond the record. In memory only: a restarted server begins anew.
struct ImageObservation {
  bool asking = false;     ///< ResolveImages was performed and is not through
  int unanswered = 0;      ///< look-ups so far that left an image unresolved
  SysTime asked_time{};    ///< the end of the last one
  std::string reason;      ///< of the last one: why, without a full stop
  bool no_engine = false;  ///< no registry was asked by the last one: nothing here runs containers
  std::optional<control::v1::Event::ImagesResolved> resolved;  ///< what the last one found
  std::string refusal;  ///< what the job fails with: an image that cannot be had; empty: none
  std::chrono::milliseconds first_pause{1000};  ///< between the first look-up and the second
};

/// Look up what is unresolved, all of it.
struct ResolveImages {};
/// A look-up is under way.
struct AwaitImages {};
/// What to do next: record the event, look up, wait for the time, or for the look-up's end.
using ImageStep = std::variant<control::v1::Event, ResolveImages, SysTime, AwaitImages>;

/// Nothing if all images of the job are known. The job is QUEUED.
[[nodiscard]] std::optional<ImageStep> NextImageStep(const control::v1::JobRecord& job,
                                                     const ImageObservation& seen, SysTime now);

}  // namespace trainyard::jobs
