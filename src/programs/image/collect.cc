#include "programs/image/collect.h"

#include <fcntl.h>
#include <sys/file.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <map>
#include <set>
#include <string_view>
#include <system_error>
#include <tuple>
#include <utility>

#include "base/async/diagnostics.h"
#include "base/async/file.h"
#include "base/async/remove_tree.h"
#include "base/async/unique_fd.h"
#include "programs/environment/build_lock.h"
#include "programs/image/cache.h"
#include "programs/image/layer_folder.h"
#include "programs/image/reference.h"

namespace trainyard::image {

namespace {

namespace fs = std::filesystem;
using std::chrono::system_clock;

constexpr std::size_t kShortDigestMin = 6;
/// Manifests of images that were resolved but not pulled yet are kept this long: jobs may queue for a long
/// time.
constexpr std::chrono::hours kUnpulledAgeMax{7 * 24};
/// Notes of how an image was found are kept this long. A queued job needs the note of its image even if the
/// image was removed: without it the pull has no credentials.
constexpr std::chrono::hours kNoteAgeMax{90 * 24};
/// Directories of single calls of skopeo, which take minutes at most.
constexpr std::chrono::hours kCallAgeMax{1};
constexpr std::string_view kGone = "gone-";
constexpr std::string_view kPackageImage = ".image";
constexpr std::size_t kHexDigits = 64;

system_clock::time_point LastUse(const CacheLayout& layout, const CachedImage& image) {
  return std::max(image.pulled, ChangedAt(layout.Use(image.digest)).value_or(image.pulled));
}

/// The disk space of some images; what they share counts once.
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
  const auto pull = environment::BuildLock::Try(layout.Lock(digest));
  if (!pull && pull.error().code == Code::kCancelled) return false;
  if (!pull) return std::unexpected(pull.error());
  TY_TRY(const std::optional<UniqueFd> use, TryLock(layout.Use(digest), LOCK_EX));
  if (!use) return false;
  std::error_code error;
  fs::remove(layout.Record(digest), error);
  if (error) return std::unexpected(ErrnoError(error.value(), "remove " + layout.Record(digest).string()));
  return true;
}

/// Renames the directory first and removes its files afterwards, so that a process killed in between leaves
/// nothing incomplete under a name that promises completeness.
Status RemoveFolder(const CacheLayout& layout, const fs::path& path) {
  TY_TRY(const OwnFolder folder, OwnFolder::Make(layout, kGone));
  const fs::path gone = folder.path() / path.filename();
  if (const int failed = MoveFolder(path, gone); failed != 0)
    return std::unexpected(ErrnoError(failed, "rename " + path.string()));
  return {};
}

/// What the records refer to, and what is therefore kept.
struct References {
  std::set<std::string> digests;
  std::set<std::string> hexes;  ///< their digits: names begin with them
  std::set<std::string> blobs;
  std::set<std::string> layers;
};

References NamedBy(const CacheLayout& layout, const std::vector<CachedImage>& images) {
  References named;
  for (const CachedImage& image : images) {
    named.digests.insert(image.digest);
    named.hexes.insert(layout.Blob(image.digest).filename());
    named.blobs.insert(layout.Blob(image.digest).filename());
    named.blobs.insert(layout.Blob(image.config_digest).filename());
    for (const LayerRecord& layer : image.layers) {
      named.blobs.insert(layout.Blob(layer.digest).filename());
      named.blobs.insert(layout.Blob(layer.diff_id).filename());
      named.layers.insert(layout.Layer(layer.diff_id).filename());
    }
  }
  return named;
}

/// Removes files older than `old`, except those whose names begin with digits in `kept`.
Status SweepFiles(const fs::path& folder, const std::set<std::string>& kept, system_clock::time_point old) {
  TY_TRY(const std::vector<fs::path> paths, EntriesOf(folder));
  for (const fs::path& path : paths) {
    const auto changed = ChangedAt(path);
    std::error_code ignored;
    if (changed && *changed <= old && !kept.contains(path.filename().string().substr(0, kHexDigits)))
      fs::remove(path, ignored);
  }
  return {};
}

/// Removes what killed pulls, skopeo processes and removals left.
Status SweepPulls(const CacheLayout& layout) {
  TY_TRY(const std::vector<fs::path> paths, EntriesOf(layout.Pulls()));
  for (const fs::path& path : paths) {
    const std::string name = path.filename();
    const auto changed = ChangedAt(path);
    if (name.starts_with(kGone) || IsSha256("sha256:" + name) ||
        (changed && *changed < system_clock::now() - kCallAgeMax))
      std::ignore = RemoveTree(path);
  }
  return {};
}

/// Removes layers of packages whose image was removed.
Status SweepPackageLayers(const CacheLayout& layout, const std::set<std::string>& digests) {
  TY_TRY(const std::vector<fs::path> paths, EntriesOf(layout.PackageLayers()));
  for (const fs::path& note : paths) {
    if (note.extension() != kPackageImage) continue;
    const Result<std::string> digest = ReadFile(note);
    if (!digest || !IsSha256(*digest) || digests.contains(*digest)) continue;
    fs::path layer = note;
    layer.replace_extension();
    std::error_code error;
    if (fs::exists(layer, error)) TY_RETURN_IF_ERROR(RemoveFolder(layout, layer));
    fs::remove(note, error);
    fs::remove(layer += ".log", error);  // what pip printed
  }
  return {};
}

/// Removes what no record refers to. The caller holds the lock that excludes pulls.
/// @param age_max  how long to keep manifests and layers of images that were resolved or begun, but are not
/// complete
Status Sweep(const CacheLayout& layout, const References& named, std::chrono::seconds age_max) {
  TY_TRY(const std::vector<fs::path> layers, EntriesOf(layout.Layers()));
  for (const fs::path& layer : layers)
    if (!named.layers.contains(layer.filename())) TY_RETURN_IF_ERROR(RemoveFolder(layout, layer));
  const auto now = system_clock::now();
  TY_RETURN_IF_ERROR(SweepPackageLayers(layout, named.digests));
  TY_RETURN_IF_ERROR(SweepFiles(layout.Blobs() / "sha256", named.blobs, now - age_max));
  TY_RETURN_IF_ERROR(SweepFiles(layout.Resolved(), named.hexes, now - kNoteAgeMax));
  return SweepPulls(layout);
}

/// Removes large blobs of removed images at once, whatever their age.
void RemoveBlobs(const CacheLayout& layout, const References& named,
                 const std::vector<CachedImage>& removed) {
  for (const CachedImage& image : removed)
    for (const LayerRecord& layer : image.layers)
      for (const fs::path& blob : {layout.Blob(layer.digest), layout.Blob(layer.diff_id)}) {
        std::error_code error;
        if (!named.blobs.contains(blob.filename())) fs::remove(blob, error);
      }
}

/// Removes what only the removed images referred to. Removes nothing as long as a record cannot be read: it
/// may refer to anything.
Status RemoveRest(const CacheLayout& layout, const std::vector<CachedImage>& removed,
                  std::chrono::seconds unpulled_age_max) {
  TY_TRY(const ImageRecords records, LoadRecords(layout));
  if (!records.damaged.empty())
    return std::unexpected(
        FailedPrecondition("the record of image " + records.damaged.front() + ", which is used, is damaged"));
  const References named = NamedBy(layout, records.images);
  RemoveBlobs(layout, named, removed);
  return Sweep(layout, named, unpulled_age_max);
}

Result<CollectResult> RemoveAll(const CacheLayout& layout, const std::vector<CachedImage>& wanted,
                                std::chrono::seconds unpulled_age_max) {
  TY_RETURN_IF_ERROR(layout.MakeFolders());
  TY_TRY(const ImageRecords records, LoadRecords(layout));
  DiskUse disk;
  for (const CachedImage& image : records.images) disk.Add(image);
  const std::int64_t before = disk.bytes();
  CollectResult collected;
  std::vector<CachedImage> removed;
  for (const CachedImage& image : wanted) {
    TY_TRY(const bool gone, RemoveRecord(layout, image.digest));
    if (!gone) continue;
    disk.Remove(image);
    collected.images.push_back(image.digest);
    removed.push_back(image);
  }
  collected.bytes = before - disk.bytes();
  // A damaged record identifies no image.
  for (const std::string& digest : records.damaged) {
    TY_TRY([[maybe_unused]] const bool gone, RemoveRecord(layout, digest));
  }
  TY_TRY(const std::optional<UniqueFd> nobody_pulls, TryLock(layout.CollectLock(), LOCK_EX));
  if (!nobody_pulls) return collected;
  if (const Status rest = RemoveRest(layout, removed, unpulled_age_max); !rest)
    Diagnose(DiagnosticLevel::kWarning,
             "cannot remove layers of deleted images yet: " + rest.error().message);
  return collected;
}

/// Whether it is in use. Does not touch the file: its time says when the image was last used.
bool IsInUse(const CacheLayout& layout, const std::string& digest) {
  const Result<UniqueFd> file = OpenFile(layout.Use(digest), O_RDWR);
  return file && ::flock(file->get(), LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK;
}

ListedImage Listed(const CacheLayout& layout, const CachedImage& image) {
  ListedImage listed{.digest = image.digest,
                     .reference = image.reference,
                     .names = image.names,
                     .loaded = image.loaded,
                     .in_use = IsInUse(layout, image.digest),
                     .size_bytes = image.SizeBytes(),
                     .unpacked_bytes = 0,
                     .layers = image.layers.size(),
                     .pulled = image.pulled,
                     .used = LastUse(layout, image)};
  for (const LayerRecord& layer : image.layers) listed.unpacked_bytes += layer.unpacked_bytes;
  return listed;
}

}  // namespace

Result<CollectResult> CollectImages(const std::string& images_dir, const CollectLimits& limits) {
  const CacheLayout layout(images_dir);
  std::error_code error;
  if (!fs::exists(layout.Images(), error)) return CollectResult{};
  TY_TRY(ImageRecords records, LoadRecords(layout));
  std::vector<CachedImage>& images = records.images;
  std::ranges::sort(images, {}, [&](const CachedImage& image) { return LastUse(layout, image); });
  DiskUse disk;
  for (const CachedImage& image : images) disk.Add(image);
  std::vector<CachedImage> wanted;
  const auto now = system_clock::now();
  for (const CachedImage& image : images) {
    if (image.loaded && !limits.with_loaded) continue;
    const bool old = limits.age_max && now - LastUse(layout, image) > *limits.age_max;
    const bool too_much = limits.bytes_max && disk.bytes() > *limits.bytes_max;
    if ((!old && !too_much) || limits.needed.contains(image.digest) || IsInUse(layout, image.digest))
      continue;
    disk.Remove(image);
    wanted.push_back(image);
  }
  const bool everything = limits.bytes_max == 0;
  return RemoveAll(layout, wanted, everything ? std::chrono::seconds(0) : kUnpulledAgeMax);
}

Result<CollectResult> RemoveImage(const std::string& images_dir, const std::string& digest) {
  const CacheLayout layout(images_dir);
  TY_TRY(const std::optional<CachedImage> image, LoadRecord(layout, digest));
  if (!image) return std::unexpected(NotFound("there is no image " + digest));
  TY_TRY(CollectResult collected, RemoveAll(layout, {*image}, kUnpulledAgeMax));
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
  const CacheLayout layout(images_dir);
  TY_TRY(const ImageRecords records, LoadRecords(layout));
  for (const CachedImage& record : records.images) {
    const ListedImage image = Listed(layout, record);
    const std::string_view image_hex = std::string_view(image.digest).substr(image.digest.find(':') + 1);
    if (std::ranges::find(image.names, name) != image.names.end() || image.reference == name)
      found.push_back(image);
    else if (hex.size() >= kShortDigestMin && image_hex.starts_with(hex))
      begun.push_back(image);
  }
  if (found.empty()) found = std::move(begun);
  if (found.empty())
    return std::unexpected(
        NotFound("There is no image [" + text + "]. To list all images: trainyard images list"));
  // If the tag has moved: the image that was last pulled under it.
  if (std::ranges::find(found.front().names, name) != found.front().names.end())
    return std::ranges::max(found, {}, &ListedImage::pulled);
  if (found.size() == 1) return found.front();
  return std::unexpected(
      InvalidArgument({}, "Several images begin with [" + text + "]; give more digits of the digest."));
}

}  // namespace trainyard::image
