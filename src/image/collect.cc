#include "image/collect.h"

#include <sys/file.h>
#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>
#include <string_view>
#include <system_error>
#include <utility>

#include "async/unique_fd.h"
#include "image/cache.h"
#include "image/layer_folder.h"
#include "image/reference.h"

namespace trainyard::image {

namespace {

namespace fs = std::filesystem;
using std::chrono::system_clock;

constexpr std::size_t kShortDigestMin = 6;
/// Manifests of images that were looked up and not pulled yet: jobs may wait for a long time.
constexpr std::chrono::hours kUnpulledAgeMax{7 * 24};

system_clock::time_point ChangedAt(const fs::path& path) {
  struct stat there{};
  if (::stat(path.c_str(), &there) != 0) return {};
  return system_clock::from_time_t(there.st_mtim.tv_sec);
}

system_clock::time_point LastUse(const CacheLayout& layout, const CachedImage& image) {
  return std::max(image.pulled, ChangedAt(layout.Use(image.digest)));
}

/// What the disk has of some images: what they share counts once.
class DiskUse {
 public:
  void Add(const CachedImage& image) { Count(image, 1); }
  void Remove(const CachedImage& image) { Count(image, -1); }
  [[nodiscard]] std::int64_t bytes() const { return bytes_; }

 private:
  void Count(const CachedImage& image, int step) {
    for (const LayerRecord& layer : image.layers) {
      CountOne("blob " + layer.digest, layer.size_bytes, step);
      CountOne("layer " + layer.diff_id, layer.unpacked_bytes, step);
    }
  }
  void CountOne(const std::string& name, std::int64_t bytes, int step) {
    int& users = users_[name];
    if ((step > 0 && users == 0) || (step < 0 && users == 1)) bytes_ += step * bytes;
    users += step;
  }

  std::map<std::string, int> users_;
  std::int64_t bytes_ = 0;
};

/// False if it is used or being pulled.
Result<bool> RemoveRecord(const CacheLayout& layout, const std::string& digest) {
  TY_TRY(const std::optional<UniqueFd> pull, TryLock(layout.Lock(digest), LOCK_EX));
  if (!pull) return false;
  TY_TRY(const std::optional<UniqueFd> use, TryLock(layout.Use(digest), LOCK_EX));
  if (!use) return false;
  std::error_code error;
  fs::remove(layout.Record(digest), error);
  if (error) return std::unexpected(ErrnoError(error.value(), "remove " + layout.Record(digest).string()));
  return true;
}

/// Files whose names are in `kept` stay, and young ones.
void SweepFiles(const fs::path& folder, const std::set<std::string>& kept, system_clock::time_point old) {
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, error)) {
    std::error_code ignored;
    if (!kept.contains(entry.path().filename().string()) && ChangedAt(entry.path()) <= old)
      fs::remove(entry.path(), ignored);
  }
}

/// Removes what no record names. Nobody pulls meanwhile.
/// @param age_max  of manifests and layers of images that were looked up or begun, and are not here
void Sweep(const CacheLayout& layout, std::chrono::seconds age_max) {
  std::set<std::string> layers;
  std::set<std::string> blobs;
  std::set<std::string> notes;
  for (const CachedImage& image : AllRecords(layout)) {
    notes.insert(layout.Note(image.digest).filename());
    blobs.insert(layout.Blob(image.digest).filename());
    blobs.insert(layout.Blob(image.config_digest).filename());
    for (const LayerRecord& layer : image.layers) {
      blobs.insert(layout.Blob(layer.digest).filename());
      blobs.insert(layout.Blob(layer.diff_id).filename());
      layers.insert(layout.Layer(layer.diff_id).filename());
    }
  }
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(layout.Layers(), error))
    if (!layers.contains(entry.path().filename().string())) RemoveTree(entry.path());
  const auto now = system_clock::now();
  SweepFiles(layout.Blobs() / "sha256", blobs, now - age_max);
  SweepFiles(layout.Resolved(), notes, now - age_max);
  // Of killed pulls, and of killed skopeos.
  for (const fs::directory_entry& entry : fs::directory_iterator(layout.Pulls(), error))
    if (ChangedAt(entry.path()) < now - std::chrono::hours(1) ||
        IsSha256("sha256:" + entry.path().filename().string()))
      RemoveTree(entry.path());
}

/// Large blobs of removed images go at once, however young.
void RemoveBlobs(const CacheLayout& layout, const std::vector<CachedImage>& removed) {
  std::set<std::string> kept;
  for (const CachedImage& image : AllRecords(layout))
    for (const LayerRecord& layer : image.layers) kept.insert({layer.digest, layer.diff_id});
  for (const CachedImage& image : removed)
    for (const LayerRecord& layer : image.layers)
      for (const std::string& digest : {layer.digest, layer.diff_id}) {
        std::error_code error;
        if (!kept.contains(digest)) fs::remove(layout.Blob(digest), error);
      }
}

Result<Collected> RemoveAll(const CacheLayout& layout, const std::vector<CachedImage>& wanted,
                            std::chrono::seconds unpulled_age_max) {
  DiskUse disk;
  for (const CachedImage& image : AllRecords(layout)) disk.Add(image);
  const std::int64_t before = disk.bytes();
  Collected collected;
  std::vector<CachedImage> removed;
  for (const CachedImage& image : wanted) {
    TY_TRY(const bool gone, RemoveRecord(layout, image.digest));
    if (!gone) continue;
    disk.Remove(image);
    collected.images.push_back(image.digest);
    removed.push_back(image);
  }
  collected.bytes = before - disk.bytes();
  TY_TRY(const std::optional<UniqueFd> nobody_pulls, TryLock(layout.CollectLock(), LOCK_EX));
  if (!nobody_pulls) return collected;
  RemoveBlobs(layout, removed);
  Sweep(layout, unpulled_age_max);
  return collected;
}

ListedImage Listed(const CacheLayout& layout, const CachedImage& image) {
  ListedImage listed{.digest = image.digest,
                     .reference = image.reference,
                     .names = image.names,
                     .loaded = image.loaded,
                     .in_use = false,
                     .size_bytes = image.SizeBytes(),
                     .unpacked_bytes = 0,
                     .layers = image.layers.size(),
                     .pulled = image.pulled,
                     .used = LastUse(layout, image)};
  for (const LayerRecord& layer : image.layers) listed.unpacked_bytes += layer.unpacked_bytes;
  const auto lock = TryLock(layout.Use(image.digest), LOCK_EX);
  listed.in_use = lock && !*lock;
  return listed;
}

}  // namespace

Result<Collected> CollectImages(const std::string& images_dir, const CollectLimits& limits) {
  const CacheLayout layout(images_dir);
  std::error_code error;
  if (!fs::exists(layout.Images(), error)) return Collected{};
  std::vector<CachedImage> images = AllRecords(layout);
  std::ranges::sort(images, {}, [&](const CachedImage& image) { return LastUse(layout, image); });
  DiskUse disk;
  for (const CachedImage& image : images) disk.Add(image);
  std::vector<CachedImage> wanted;
  const auto now = system_clock::now();
  for (const CachedImage& image : images) {
    if (image.loaded && !limits.with_loaded) continue;
    const bool old = limits.age_max && now - LastUse(layout, image) > *limits.age_max;
    const bool too_much = limits.bytes_max && disk.bytes() > *limits.bytes_max;
    if ((!old && !too_much) || Listed(layout, image).in_use) continue;
    disk.Remove(image);
    wanted.push_back(image);
  }
  const bool everything = limits.bytes_max == 0;
  return RemoveAll(layout, wanted, everything ? std::chrono::seconds(0) : kUnpulledAgeMax);
}

Result<Collected> RemoveImage(const std::string& images_dir, const std::string& digest) {
  const CacheLayout layout(images_dir);
  const std::optional<CachedImage> image = ReadRecord(layout, digest);
  if (!image) return std::unexpected(NotFound("there is no image " + digest));
  TY_TRY(Collected collected, RemoveAll(layout, {*image}, kUnpulledAgeMax));
  if (!collected.images.empty()) return collected;
  return std::unexpected(FailedPrecondition("image " + digest + " is used by a job, or being pulled"));
}

std::vector<ListedImage> ListImages(const std::string& images_dir) {
  const CacheLayout layout(images_dir);
  std::vector<ListedImage> listed;
  for (const CachedImage& image : AllRecords(layout)) listed.push_back(Listed(layout, image));
  return listed;
}

Result<ListedImage> FindListed(const std::string& images_dir, const std::string& text) {
  const std::string hex = text.starts_with("sha256:") ? text.substr(text.find(':') + 1) : text;
  const Result<Reference> reference = ParseReference(text);
  const std::string name = reference ? reference->Print() : text;
  std::vector<ListedImage> found;
  std::vector<ListedImage> begun;
  for (ListedImage& image : ListImages(images_dir)) {
    const std::string_view image_hex = std::string_view(image.digest).substr(image.digest.find(':') + 1);
    if (std::ranges::find(image.names, name) != image.names.end() || image.reference == name)
      found.push_back(image);
    else if (hex.size() >= kShortDigestMin && image_hex.starts_with(hex))
      begun.push_back(image);
  }
  if (found.empty()) found = std::move(begun);
  if (found.empty())
    return std::unexpected(
        NotFound("There is no image [" + text + "]. These are there: trainyard images list"));
  // A tag that moved: the last one that was pulled under it.
  if (std::ranges::find(found.front().names, name) != found.front().names.end())
    return std::ranges::max(found, {}, &ListedImage::pulled);
  if (found.size() == 1) return found.front();
  return std::unexpected(
      InvalidArgument({}, "Several images begin with [" + text + "]; say more of the digest."));
}

}  // namespace trainyard::image
