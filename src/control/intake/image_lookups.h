#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/thread_pool.hpp>
#include <chrono>
#include <functional>
#include <map>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "base/async/event.h"
#include "base/async/turns.h"
#include "base/result.h"
#include "programs/image/image.h"
#include "rules/jobs/images.h"
#include "trainyard/control/v1/record.pb.h"

/// What images are now, asked of their registries (docs/adr/0033-a-registry-that-does-not-answer.md).
namespace trainyard::control {

struct Collaborators;

/// For all images of a job together, while its client waits.
inline constexpr std::chrono::seconds kImageLookUpMax{2};
/// The same for one image of a job that waits in the queue.
inline constexpr std::chrono::seconds kQueuedLookUpMax{15};
/// The same for an image on this machine: an archive is read to its end, a daemon packs the whole image.
inline constexpr std::chrono::minutes kLocalLookUpMax{10};

/// What an image is now; blocks, at most the time given (image::ResolveImage).
using ImageResolver = std::function<Result<image::ResolvedImage>(
    const std::string& image, std::chrono::milliseconds timeout, const std::stop_token& stop)>;
/// What an image was when it was last pulled under that name, if it is still here (image::FindPulled).
using PulledImageFinder = std::function<std::optional<image::ResolvedImage>(const std::string& image)>;

/// Who knows images. The pools outlive it.
struct ImageRegistries {
  ImageResolver resolve;  ///< null: this installation runs no containers; never changed but from null
  PulledImageFinder find_pulled;
  /// Which registry answers for an image; with a colon at its end: what does on this machine. Does not block.
  std::function<std::string(const std::string& image)> registry_of;
  /// Whether the server would show a registry its own credentials for an image. Blocks. Null: it has none.
  std::function<bool(const std::string& image)> uses_credentials{};
  boost::asio::thread_pool* at_create = nullptr;  ///< for look-ups that a client waits for
  boost::asio::thread_pool* queued = nullptr;     ///< for those of waiting jobs, which may take longer
  /// Looks for what runs containers again; afterwards there is `resolve`, else the answer says in a sentence
  /// what is lacking. Null: nothing will change. Loop thread.
  std::function<boost::asio::awaitable<std::string>()> look_for_containers{};
};

/// One queued look-up at a time for each registry, and for this machine: one that is dead or slow holds the
/// jobs that have its images, and one thread. Loop thread only.
class RegistryTurns {
 public:
  explicit RegistryTurns(boost::asio::any_io_executor loop) : loop_(std::move(loop)) {}
  /// Until the next call, or for as long as somebody waits there or has a turn.
  [[nodiscard]] Turns& At(const std::string& registry);

 private:
  boost::asio::any_io_executor loop_;
  std::map<std::string, Turns> turns_;
};

/// What a look-up of some images has come to.
struct ImagesFound {
  struct Refusal {
    std::string image;
    Error error;  ///< kInvalidArgument, kFailedPrecondition or the server's own, with a whole sentence
  };
  std::vector<v1::ImageRecord> images;  ///< as asked, up to one that is refused; unresolved: nobody answered
  std::vector<std::string> notes;       ///< where a pulled image stands for one that nobody answers for
  std::optional<Refusal> refusal;       ///< an image that cannot be had
};

struct LookUpOptions {
  std::function<std::chrono::milliseconds()> timeout;  ///< for the next image, which begins now
  bool may_be_pulled = false;  ///< a pulled image stands for one whose registry does not answer
};

/// Looks the images up, one after the other. Blocks: for a pool.
[[nodiscard]] ImagesFound FindImages(const ImageRegistries& registries,
                                     const std::vector<std::string>& images, const LookUpOptions& options,
                                     const std::stop_token& stop);

/// Looks up what the images of one queued job are, for its runner. Loop thread only.
class QueuedLookUp {
 public:
  /// All outlive it. `wake` is set when `seen` has changed.
  QueuedLookUp(const Collaborators& outside, jobs::ImageObservation& seen, Event& wake);
  ~QueuedLookUp() { Stop(); }
  QueuedLookUp(const QueuedLookUp&) = delete;
  QueuedLookUp& operator=(const QueuedLookUp&) = delete;

  /// One look-up of what is unresolved: jobs::ResolveImages. One at a time; its owner has it in a task.
  boost::asio::awaitable<void> Run(v1::JobRecord job);
  /// What runs is ended, and nothing more is looked up: the task ends soon.
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

}  // namespace trainyard::control
