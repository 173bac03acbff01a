#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/thread_pool.hpp>
#include <chrono>
#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "base/async/event.h"
#include "base/async/guarded.h"
#include "base/async/turns.h"
#include "base/clock.h"
#include "base/result.h"
#include "programs/image/image.h"
#include "rules/jobs/images.h"
#include "trainyard/control/v1/record.pb.h"

/// Looks up the present versions of images in their registries
/// (docs/adr/0033-a-registry-that-does-not-answer.md).
namespace trainyard::control {

struct Collaborators;

/// Time limit for all images of a job together, while its client waits.
inline constexpr std::chrono::seconds kImageLookUpMax{2};
/// Time limit for one image of a job that waits in the queue.
inline constexpr std::chrono::seconds kQueuedLookUpMax{15};
/// Time limit for an image on this machine: an archive is read to its end, a daemon packs the whole image.
inline constexpr std::chrono::minutes kLocalLookUpMax{10};

/// The present version of an image; blocks, at most for the given time (image::ResolveImage).
using ImageResolver = std::function<Result<image::ResolvedImage>(
    const std::string& image, std::chrono::milliseconds timeout, const std::stop_token& stop)>;
/// The version of an image that was last pulled under that name, if it is still here (image::FindPulled).
using PulledImageFinder = std::function<std::optional<image::ResolvedImage>(const std::string& image)>;

/// How images are looked up. The pools outlive it.
struct ImageRegistries {
  ImageResolver resolve;  ///< null: no containers here; only changes from null to another
  PulledImageFinder find_pulled;
  /// The registry that serves an image; for an image on this machine, its transport and a colon. Does not
  /// block.
  std::function<std::string(const std::string& image)> registry_of;
  /// Whether the server would use its own credentials with a registry for this image. Blocks. Null: it has
  /// none.
  std::function<bool(const std::string& image)> uses_credentials{};
  boost::asio::thread_pool* at_create = nullptr;  ///< for look-ups while a client waits
  boost::asio::thread_pool* queued = nullptr;     ///< for look-ups of waiting jobs, which may take longer
  /// Looks again for a program that runs containers; afterwards `resolve` is set, or the result is a sentence
  /// that says what is missing. Null: nothing will change. Loop thread.
  std::function<boost::asio::awaitable<std::string>()> look_for_containers{};
};

/// Allows one queued look-up at a time for each registry, and for this machine: a dead or slow registry only
/// delays the jobs that use its images, and takes one thread. Loop thread only.
class RegistryTurns {
 public:
  explicit RegistryTurns(boost::asio::any_io_executor loop) : loop_(std::move(loop)) {}
  /// Valid until the next call, or for as long as a caller waits there or has a turn.
  [[nodiscard]] Turns& At(const std::string& registry);

 private:
  boost::asio::any_io_executor loop_;
  std::map<std::string, Turns> turns_;
};

/// The result of looking up images.
struct ImagesFound {
  struct Refusal {
    std::string image;
    Error error;  ///< kInvalidArgument, kFailedPrecondition or the server's own, with a whole sentence
  };
  std::vector<v1::ImageRecord> images;  ///< in the order asked, up to a refused one; unresolved: no answer
  std::vector<std::string> notes;       ///< that a pulled image is used because its registry does not answer
  std::optional<Refusal> refusal;       ///< an image that cannot be used
};

struct LookUpOptions {
  std::function<std::chrono::milliseconds()> timeout;  ///< for the next image, whose look-up begins now
  bool may_be_pulled = false;                          ///< use a pulled image if the registry does not answer
};

/// Looks the images up, one after the other. Blocks: run it on a pool.
[[nodiscard]] ImagesFound FindImages(const ImageRegistries& registries,
                                     const std::vector<std::string>& images, const LookUpOptions& options,
                                     const std::stop_token& stop);

/// Looks up the images of one queued job, for its runner. Loop thread only.
class QueuedLookUp {
 public:
  /// All outlive it. Sets `wake` when it has changed `seen`.
  QueuedLookUp(const Collaborators& outside, jobs::ImageObservation& seen, Event& wake);
  ~QueuedLookUp() { Stop(); }
  QueuedLookUp(const QueuedLookUp&) = delete;
  QueuedLookUp& operator=(const QueuedLookUp&) = delete;

  /// One look-up of the unresolved images: jobs::ResolveImages. One at a time; the owner runs it in a task.
  boost::asio::awaitable<void> Run(v1::JobRecord job);
  /// Stops the look-up under way and starts no other: the task ends soon.
  void Stop() { stop_.request_stop(); }

 private:
  boost::asio::awaitable<void> LookUp(v1::JobRecord job);
  boost::asio::awaitable<ImagesFound> Find(std::string image);
  void Take(ImagesFound found);
  void Refuse(std::string why);
  void Lack(const std::string& containers);
  void End();

  const Collaborators& outside_;
  jobs::ImageObservation& seen_;
  Event& wake_;
  std::stop_source stop_;
};

/// Caches answers of registries for Check: a form asks at each pause while a job is being written, and
/// registries limit the number of requests. Create does not use it. Any thread.
class KeptLookUps {
 public:
  static constexpr std::chrono::seconds kLife{30};
  static constexpr std::size_t kImagesMax = 256;
  /// If a look-up had less time than this and got no answer, that is not cached.
  static constexpr std::chrono::milliseconds kTimeMin{1'000};

  /// `clock` outlives it.
  explicit KeptLookUps(const Clock& clock) : clock_(clock) {}

  /// As `resolve`, or its result within the last kLife, including refusals and timeouts. Blocks as it does.
  [[nodiscard]] Result<image::ResolvedImage> Resolve(const ImageResolver& resolve, const std::string& image,
                                                     std::chrono::milliseconds timeout,
                                                     const std::stop_token& stop);

 private:
  struct CachedLookUp {
    SysTime since;
    Result<image::ResolvedImage> said;
  };
  using Images = std::map<std::string, CachedLookUp>;

  const Clock& clock_;
  Guarded<Images> images_;
};

}  // namespace trainyard::control
