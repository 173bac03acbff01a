#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "base/clock.h"
#include "base/result.h"
#include "trainyard/control/v1/record.pb.h"

/// If the registries of a job's images did not respond when the job was created, it waits in the queue until
/// they do (docs/adr/0033-a-registry-that-does-not-answer.md). Pure: any thread.
namespace trainyard::jobs {

/// The pause after a look-up without a response from a registry doubles up to this.
inline constexpr std::chrono::seconds kImagePauseMax{60};

/// Whether the image has not been looked up successfully yet.
[[nodiscard]] bool IsUnresolved(const control::v1::ImageRecord& image);
[[nodiscard]] bool HasUnresolvedImages(const control::v1::JobRecord& job);

/// What is known about the look-ups in addition to the record. In memory only: a restarted server starts
/// over.
struct ImageObservation {
  bool asking = false;     ///< ResolveImages was performed and has not finished
  int unanswered = 0;      ///< the number of look-ups so far that left an image unresolved
  SysTime asked_time{};    ///< the end of the last one
  std::string reason;      ///< why the last one failed, without a full stop
  bool no_engine = false;  ///< the last one asked no registry, because nothing here can run containers
  std::optional<control::v1::Event::ImagesResolved> resolved;  ///< what the last one found
  std::string refusal;  ///< the error of the job: an image is not available; empty: no error
  std::chrono::milliseconds first_pause{1000};  ///< between the first look-up and the second
};

/// Look up all unresolved images.
struct ResolveImages {};
/// Wait for the running look-up.
struct AwaitImages {};
/// What to do next: record the event, look up, wait for the time, or for the look-up's end.
using ImageStep = std::variant<control::v1::Event, ResolveImages, SysTime, AwaitImages>;

/// Nullopt if all images of the job are resolved. The job must be QUEUED.
[[nodiscard]] std::optional<ImageStep> NextImageStep(const control::v1::JobRecord& job,
                                                     const ImageObservation& seen, SysTime now);

/// Whether the text names a container image: [DOMAIN[:PORT]/]NAME[:TAG][@DIGEST], in the form that Docker and
/// all registries use, or an image on this machine: oci:PATH[:TAG], oci-archive:PATH, docker-archive:PATH
/// with an absolute path, docker-daemon:NAME, containers-storage:NAME. Google's service accepted only
/// Container Registry; this server accepts every registry.
///
/// @return kInvalidArgument without a field, with a sentence that says what is wrong.
/// Pure: any thread. Source: grammar of the distribution project's reference package;
/// containers-transports(5).
[[nodiscard]] Status CheckImageReference(std::string_view text);

/// Whether a pattern matches an image. '*' matches any characters, slashes too. A pattern without tag and
/// digest matches all tags and digests: "gcr.io/p/training" and "gcr.io/p/training:v1". Pure: any thread.
[[nodiscard]] bool MatchesImage(std::string_view pattern, std::string_view image);

}  // namespace trainyard::jobs
