#include "programs/image/layers_pull.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <boost/asio/post.hpp>
#include <boost/asio/thread_pool.hpp>
#include <cerrno>
#include <chrono>
#include <functional>
#include <set>
#include <system_error>
#include <thread>
#include <utility>

#include "base/async/file.h"
#include "base/async/remove_tree.h"
#include "base/async/unique_fd.h"
#include "programs/image/layer.h"
#include "programs/image/layer_folder.h"
#include "programs/image/reference.h"

namespace trainyard::image {

namespace {

namespace fs = std::filesystem;
using std::chrono::steady_clock;

constexpr unsigned kUnpackThreadsMax = 4;
constexpr std::chrono::seconds kStallMax{60};
constexpr std::chrono::seconds kProgressInterval{5};
constexpr std::chrono::milliseconds kLookInterval{500};

std::int64_t SizeOf(const fs::path& path) {
  std::error_code error;
  const std::uintmax_t size = fs::file_size(path, error);
  return error ? 0 : static_cast<std::int64_t>(size);
}

/// Whether an error of unpacking has causes other than the blob.
bool SaysNothingOfTheBlob(Code code) { return code == Code::kCancelled || code == Code::kResourceExhausted; }

/// The total size of the files below the directory.
std::int64_t TreeSize(const fs::path& folder) {
  std::int64_t sum = 0;
  std::error_code error;
  for (auto entry = fs::recursive_directory_iterator(folder, error);
       !error && entry != fs::recursive_directory_iterator(); entry.increment(error)) {
    std::error_code gone;
    if (entry->is_regular_file(gone) && !entry->is_symlink(gone)) sum += SizeOf(entry->path());
  }
  return sum;
}

}  // namespace

/// Watches, on a separate thread, what skopeo downloads: starts unpacking complete layers, reports progress,
/// and stops skopeo when nothing arrives any more.
class LayersPull::Watch {
 public:
  using Arrived = std::function<void(const Layer& layer)>;

  Watch(LayersPull& pull, const std::vector<Layer>& missing, Arrived arrived, std::stop_source& stop)
      : pull_(pull), arrived_(std::move(arrived)), stop_(stop), count_(missing.size()) {
    for (const Layer& layer : missing) {
      waiting_.push_back(&layer);
      bytes_ += layer.blob.size;
    }
    events_.Reset(::inotify_init1(IN_CLOEXEC | IN_NONBLOCK));
    if (events_)
      ::inotify_add_watch(events_.get(), (pull.place_.layout.Blobs() / "sha256").c_str(),
                          IN_MOVED_TO | IN_CREATE);
    ended_.Reset(::eventfd(0, EFD_CLOEXEC));
    thread_ = std::jthread([this] { Run(); });
  }
  Watch(const Watch&) = delete;
  Watch& operator=(const Watch&) = delete;
  ~Watch() { End(); }

  /// Looks one last time, then ends the thread.
  void End() {
    if (!thread_.joinable()) return;
    ::eventfd_write(ended_.get(), 1);
    thread_.join();
    TakeArrived();
  }
  [[nodiscard]] bool stalled() const { return stalled_; }

 private:
  void Run() {
    std::array<pollfd, 2> polls{pollfd{ended_.get(), POLLIN, 0}, pollfd{events_.get(), POLLIN, 0}};
    std::array<char, 16384> buffer{};
    while (polls[0].revents == 0) {
      ::poll(polls.data(), polls.size(), static_cast<int>(kLookInterval.count()));
      while (::read(events_.get(), buffer.data(), buffer.size()) > 0) {
      }
      TakeArrived();
      Look();
    }
  }

  void TakeArrived() {
    std::erase_if(waiting_, [this](const Layer* layer) {
      std::error_code error;
      if (!fs::exists(pull_.BlobOf(*layer), error)) return false;
      here_ += layer->blob.size;
      arrived_(*layer);
      return true;
    });
  }

  void Look() {
    const auto now = steady_clock::now();
    const std::int64_t on_the_way =
        TreeSize(pull_.place_.folder / "layout") + TreeSize(pull_.place_.folder / "tmp");
    if (on_the_way + here_ != seen_) {
      seen_ = on_the_way + here_;
      moved_ = now;
    }
    if (pull_.place_.reference.IsRegistry() && now - moved_ > kStallMax && !waiting_.empty()) {
      stalled_ = true;
      stop_.request_stop();
    }
    if (pull_.place_.hooks.progress && !waiting_.empty())
      pull_.place_.hooks.progress({.what = "Pulling the image",
                                   .done = std::min(here_ + on_the_way, bytes_),
                                   .total = bytes_,
                                   .unit = "bytes"});
    if (now - said_ < kProgressInterval || here_ + on_the_way == last_said_) return;
    said_ = now;
    last_said_ = here_ + on_the_way;
    if (pull_.place_.hooks.info)
      pull_.place_.hooks.info("Pulled " + std::to_string(count_ - waiting_.size()) + " of " +
                              std::to_string(count_) + " layers, " +
                              PrintBytes(std::min(last_said_, bytes_)) + " of " + PrintBytes(bytes_) + ".");
  }

  LayersPull& pull_;
  Arrived arrived_;
  std::stop_source& stop_;
  std::size_t count_;
  std::vector<const Layer*> waiting_;
  std::int64_t bytes_ = 0;
  std::int64_t here_ = 0;
  std::int64_t seen_ = 0;
  std::int64_t last_said_ = 0;
  steady_clock::time_point moved_ = steady_clock::now();
  steady_clock::time_point said_ = steady_clock::now();
  bool stalled_ = false;  // written by the thread, read after End
  UniqueFd events_;
  UniqueFd ended_;
  std::jthread thread_;
};

fs::path LayersPull::BlobOf(const Layer& layer) const {
  // Container daemons' stores deliver layers uncompressed, whatever the manifest says.
  std::error_code error;
  fs::path blob = place_.layout.Blob(layer.blob.digest);
  return fs::exists(blob, error) ? blob : place_.layout.Blob(layer.diff_id);
}

fs::path LayersPull::FolderOf(const std::string& diff_id) const {
  return place_.folder / "layers" / diff_id.substr(diff_id.find(':') + 1);
}

/// Each layer once, except those that are unpacked already.
std::vector<LayersPull::Layer> LayersPull::Missing(const Manifest& manifest, const Config& config) {
  std::vector<Layer> missing;
  std::set<std::string> seen;
  const auto unpacked = done_.With([](const Done& done) { return done.unpacked; });
  for (std::size_t i = 0; i < manifest.layers.size(); ++i) {
    const std::string& diff_id = config.diff_ids[i];
    std::error_code error;
    if (!seen.insert(diff_id).second || unpacked.contains(diff_id) ||
        fs::exists(place_.layout.Layer(diff_id), error))
      continue;
    missing.push_back({.blob = manifest.layers[i], .diff_id = diff_id});
  }
  return missing;
}

void LayersPull::Unpack(const Layer& layer, std::stop_source& stop) {
  const fs::path folder = FolderOf(layer.diff_id);
  const fs::path blob = BlobOf(layer);
  std::error_code error;
  fs::create_directories(folder, error);
  fs::permissions(folder, fs::perms(0755), error);
  const Result<std::int64_t> bytes = UnpackLayer(blob, layer.diff_id, folder, stop.get_token());
  if (bytes) {
    done_.With([&](Done& done) { done.unpacked.emplace(layer.diff_id, *bytes); });
    return SayUnpacked();
  }
  static_cast<void>(RemoveTree(folder));
  // Damage may look like anything: not a tar, a path that leads out of the layer, a file of an exabyte.
  bool damaged = false;
  if (!SaysNothingOfTheBlob(bytes.error().code)) {
    const Result<std::string> digest = Sha256OfFile(blob);
    damaged = digest && "sha256:" + blob.filename().string() != *digest;
    if (damaged) fs::remove(blob, error);
  }
  done_.With([&](Done& done) {
    done.errors.push_back(bytes.error());
    done.errors.back().message += " (layer " + layer.blob.digest + ")";
    done.had_damaged_blob |= damaged;
  });
  stop.request_stop();
}

/// While layers are being downloaded, progress counts their bytes.
void LayersPull::SayUnpacked() {
  if (!place_.hooks.progress) return;
  done_.With([this](const Done& done) {
    if (!done.all_fetched) return;
    const std::size_t unpacked = std::min(done.unpacked.size(), done.wanted);
    place_.hooks.progress({.what = "Unpacking the image",
                           .done = static_cast<std::int64_t>(unpacked),
                           .total = static_cast<std::int64_t>(done.wanted),
                           .unit = "layers"});
  });
}

Status LayersPull::Fetch(const std::vector<Layer>& missing) {
  std::stop_source stop;
  const std::stop_callback pass_on(place_.hooks.stop, [&stop] { stop.request_stop(); });
  boost::asio::thread_pool threads(std::clamp(std::thread::hardware_concurrency(), 1U, kUnpackThreadsMax));
  const auto unpack = [&](const Layer& layer) {
    boost::asio::post(threads, [this, &layer, &stop] { Unpack(layer, stop); });
  };
  const bool all_here = std::ranges::all_of(missing, [this](const Layer& layer) {
    std::error_code error;
    return fs::exists(BlobOf(layer), error);
  });
  done_.With([&missing](Done& done) { done.wanted = done.unpacked.size() + missing.size(); });
  Watch watch(*this, missing, unpack, stop);
  Status fetched;
  if (!all_here)
    fetched = skopeo_.WithStop(stop.get_token())
                  .Pull(place_.reference, place_.access, place_.folder / "layout", place_.layout.Blobs());
  watch.End();
  done_.With([](Done& done) { done.all_fetched = true; });
  SayUnpacked();
  threads.join();
  const std::vector<Error> errors = done_.With([](Done& done) { return std::exchange(done.errors, {}); });
  if (place_.hooks.stop.stop_requested()) return std::unexpected(Error{Code::kCancelled, "stopped", {}});
  for (const Error& error : errors)
    if (error.code != Code::kCancelled) return std::unexpected(error);
  if (watch.stalled())
    return std::unexpected(Unavailable(place_.reference.Registry() + " sent nothing for a minute"));
  return fetched;
}

/// Power may fail at any time: sync before the rename, so that what has its final name is on the disk.
Status LayersPull::Publish() {
  const auto unpacked = done_.With([](const Done& done) { return done.unpacked; });
  if (unpacked.empty()) return {};
  TY_TRY(const UniqueFd disk, OpenFile(place_.layout.Layers(), O_RDONLY | O_DIRECTORY));
  if (::syncfs(disk.get()) != 0)
    return std::unexpected(ErrnoError(errno, "syncfs " + place_.layout.Layers().string()));
  for (const auto& [diff_id, bytes] : unpacked) {
    const fs::path from = FolderOf(diff_id);
    const fs::path to = place_.layout.Layer(diff_id);
    // Another image's pull may have unpacked the same layer first.
    const int failed = MoveFolder(from, to);
    if (failed != 0 && failed != ENOTEMPTY && failed != EEXIST)
      return std::unexpected(ErrnoError(failed, "rename " + from.string()));
  }
  return SyncDirectory(place_.layout.Layers());
}

Result<std::vector<LayerRecord>> LayersPull::Records(const Manifest& manifest, const Config& config) const {
  std::map<std::string, std::int64_t> bytes = done_.With([](const Done& done) { return done.unpacked; });
  for (const CachedImage& other : AllRecords(place_.layout))
    for (const LayerRecord& layer : other.layers) bytes.emplace(layer.diff_id, layer.unpacked_bytes);
  std::vector<LayerRecord> records;
  for (std::size_t i = 0; i < manifest.layers.size(); ++i) {
    const std::string& diff_id = config.diff_ids[i];
    if (!bytes.contains(diff_id)) bytes.emplace(diff_id, TreeSize(place_.layout.Layer(diff_id)));
    records.push_back({.digest = manifest.layers[i].digest,
                       .diff_id = diff_id,
                       .size_bytes = manifest.layers[i].size,
                       .unpacked_bytes = bytes.at(diff_id)});
  }
  return records;
}

Result<std::vector<LayerRecord>> LayersPull::Run(const Manifest& manifest, const Config& config) {
  const auto begin = steady_clock::now();
  done_.With([](Done& done) { done.had_damaged_blob = false; });
  if (const std::vector<Layer> missing = Missing(manifest, config); !missing.empty()) {
    TY_RETURN_IF_ERROR(Fetch(missing));
    if (!Missing(manifest, config).empty())
      return std::unexpected(Error{Code::kDataLoss, "some of its layers are missing", {}});
  }
  TY_RETURN_IF_ERROR(Publish());
  TY_TRY(std::vector<LayerRecord> records, Records(manifest, config));
  std::int64_t unpacked = 0;
  for (const LayerRecord& layer : records) unpacked += layer.unpacked_bytes;
  const std::chrono::duration<double> spent = steady_clock::now() - begin;
  std::array<char, 32> seconds{};
  std::snprintf(seconds.data(), seconds.size(), "%.1f s", spent.count());
  if (place_.hooks.info)
    place_.hooks.info("Pulled and unpacked the image: " + PrintBytes(unpacked) + " in " + seconds.data() +
                      ".");
  return records;
}

bool LayersPull::CanTryAgain(const Error& error) const {
  if (error.code == Code::kUnavailable) return true;
  return !SaysNothingOfTheBlob(error.code) &&
         done_.With([](const Done& done) { return done.had_damaged_blob; });
}

}  // namespace trainyard::image
