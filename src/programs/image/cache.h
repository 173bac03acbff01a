#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/async/unique_fd.h"
#include "base/result.h"
#include "programs/image/image.h"
#include "programs/image/skopeo.h"

/// The directory of pulled images:
///
///     blobs/sha256/HEX          manifests, configs and layers as they came, by their digest
///     layers/sha256/HEX/        a layer unpacked, by its diff_id
///     images/sha256/HEX.json    an image that is complete, by its manifest's digest
///     images/sha256/HEX.lock    who pulls it
///     images/sha256/HEX.use     who runs it
///     images/sha256/HEX.daemon.lock   who brings it into the container daemon
///     resolved/HEX-NAME.json    how a digest was found, for each reference under which it was
///     pulls/                    HEX: a pull that is running or was killed; gone-*: a removal that was killed
///     package_layers/NAME/      packages installed into an image; NAME.image: the digest of that image
///     collect.lock              shared by pulls, exclusive for what removes layers and blobs
///
/// Everything appears and disappears by a rename, so what is there is complete. Only its owner can enter the
/// directory: images contain setuid programs and device files, which must not be used outside of a container.
/// Blocking; any thread, any process.
namespace trainyard::image {

/// The paths. `digest` is one that IsSha256.
class CacheLayout {
 public:
  explicit CacheLayout(std::filesystem::path dir) : dir_(std::move(dir)) {}
  [[nodiscard]] std::filesystem::path Blobs() const { return dir_ / "blobs"; }
  [[nodiscard]] std::filesystem::path Blob(std::string_view digest) const;
  [[nodiscard]] std::filesystem::path Layers() const { return dir_ / "layers" / "sha256"; }
  [[nodiscard]] std::filesystem::path Layer(std::string_view diff_id) const;
  [[nodiscard]] std::filesystem::path Images() const { return dir_ / "images" / "sha256"; }
  [[nodiscard]] std::filesystem::path Record(std::string_view digest) const;
  [[nodiscard]] std::filesystem::path Lock(std::string_view digest) const;
  [[nodiscard]] std::filesystem::path DaemonLock(std::string_view digest) const;
  [[nodiscard]] std::filesystem::path Use(std::string_view digest) const;
  [[nodiscard]] std::filesystem::path Resolved() const { return dir_ / "resolved"; }
  [[nodiscard]] std::filesystem::path Note(std::string_view digest, std::string_view reference) const;
  [[nodiscard]] std::filesystem::path Pulls() const { return dir_ / "pulls"; }
  [[nodiscard]] std::filesystem::path Pull(std::string_view digest) const;
  [[nodiscard]] std::filesystem::path PackageLayers() const { return dir_ / "package_layers"; }
  [[nodiscard]] std::filesystem::path CollectLock() const { return dir_ / "collect.lock"; }
  /// Creates missing directories, and makes the cache accessible to its owner only.
  [[nodiscard]] Status MakeFolders() const;

 private:
  std::filesystem::path dir_;
};

struct LayerRecord {
  std::string digest;   ///< as it was pulled
  std::string diff_id;  ///< unpacked
  std::int64_t size_bytes = 0;
  std::int64_t unpacked_bytes = 0;
};

/// The record of a complete image.
struct CachedImage {
  std::string digest;
  std::string reference;           ///< where it came from, with the digest
  std::vector<std::string> names;  ///< normalised, with tags: the names that it was requested under
  std::vector<std::string>
      loaded_names;     ///< names given by archives: resolved here, without asking a registry
  bool loaded = false;  ///< added by `images load`, so perhaps it cannot be pulled again
  std::chrono::system_clock::time_point pulled{};
  std::string config_digest;
  std::vector<LayerRecord> layers;  ///< as the manifest has them, the lowest first
  [[nodiscard]] std::int64_t SizeBytes() const;
};

/// Absent if there is no record. Errors: kDataLoss for a damaged record, and those of the file system: a
/// caller that removes things must not treat an unreadable record as missing.
[[nodiscard]] Result<std::optional<CachedImage>> LoadRecord(const CacheLayout& layout,
                                                            std::string_view digest);
/// The same for callers that would pull the image again anyway: an unreadable record counts as missing.
[[nodiscard]] std::optional<CachedImage> ReadRecord(const CacheLayout& layout, std::string_view digest);
[[nodiscard]] Status WriteRecord(const CacheLayout& layout, const CachedImage& image);

struct ImageRecords {
  std::vector<CachedImage> images;   ///< by digest
  std::vector<std::string> damaged;  ///< digests of images with a damaged record
};
/// All records. Errors: those of the file system.
[[nodiscard]] Result<ImageRecords> LoadRecords(const CacheLayout& layout);
/// All records that can be read, by digest.
[[nodiscard]] std::vector<CachedImage> AllRecords(const CacheLayout& layout);

/// The image of a record; absent if a layer or the config is missing.
[[nodiscard]] std::optional<Image> ImageOf(const CacheLayout& layout, const CachedImage& record);

/// A note of how a digest was found.
struct Note {
  std::string reference;
  std::string name;  ///< as it was requested, mapped and normalised: with the tag
  RegistryAccess access;
};
/// A digest may have been found under several references, each with other credentials.
[[nodiscard]] std::optional<Note> ReadNote(const CacheLayout& layout, std::string_view digest,
                                           std::string_view reference);
/// Replaces a previous note of the same digest and `note.reference`.
[[nodiscard]] Status WriteNote(const CacheLayout& layout, std::string_view digest, const Note& note);

/// A small blob, with its digest checked. Absent if it is missing or damaged.
[[nodiscard]] std::optional<std::string> ReadBlob(const CacheLayout& layout, std::string_view digest);
[[nodiscard]] Status WriteBlob(const CacheLayout& layout, std::string_view digest, std::string_view bytes);

/// Writes an OCI layout with the one image, whose blobs stay in the cache, into an existing directory.
/// `manifest`: the blob of `digest`.
[[nodiscard]] Status WriteLayout(const std::string& manifest, const std::string& digest,
                                 const std::filesystem::path& folder);

/// When a file was last written; absent if that is unknown.
[[nodiscard]] std::optional<std::chrono::system_clock::time_point> ChangedAt(
    const std::filesystem::path& path);

/// flock(2) of a file that is created if needed. Absent: another process or thread holds the lock.
[[nodiscard]] Result<std::optional<UniqueFd>> TryLock(const std::filesystem::path& path, int operation);

/// The same, but waits while another process or thread holds the lock; calls `on_wait` once if it must wait.
/// kCancelled after a stop.
[[nodiscard]] Result<UniqueFd> WaitForLock(const std::filesystem::path& path, int operation,
                                           const std::function<void()>& on_wait, const std::stop_token& stop);

/// "412 MB", "1.3 GB".
[[nodiscard]] std::string PrintBytes(std::int64_t bytes);

/// A directory for the temporary files of one call, below the pulls. The destructor removes it, and
/// CollectImages if the process was killed. One thread.
class OwnFolder {
 public:
  /// Its name begins with `prefix`.
  [[nodiscard]] static Result<OwnFolder> Make(const CacheLayout& layout, std::string_view prefix = "call-");
  OwnFolder(OwnFolder&& other) noexcept : path_(std::exchange(other.path_, {})) {}
  OwnFolder& operator=(OwnFolder&&) = delete;
  ~OwnFolder();
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

 private:
  explicit OwnFolder(std::filesystem::path path) : path_(std::move(path)) {}
  std::filesystem::path path_;
};

}  // namespace trainyard::image
