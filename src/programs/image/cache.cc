#include "programs/image/cache.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <boost/json.hpp>
#include <cerrno>
#include <cstdio>
#include <map>
#include <string>
#include <system_error>
#include <thread>
#include <utility>

#include "base/async/file.h"
#include "base/async/remove_tree.h"
#include "base/wire/json_members.h"
#include "programs/image/manifest.h"
#include "programs/image/reference.h"

namespace trainyard::image {

namespace {

namespace fs = std::filesystem;
namespace json = boost::json;
using SystemTime = std::chrono::system_clock::time_point;

constexpr std::string_view kPrefix = "sha256:";
/// Polled, because a blocking flock(2) cannot be ended by a stop; pulls take seconds to minutes.
constexpr std::chrono::milliseconds kLockRetryInterval{50};
constexpr std::size_t kSmallBlobMax = std::size_t{8} << 20;
/// Digits of a reference's digest in the name of its note.
constexpr std::size_t kNoteDigits = 16;

std::string_view Hex(std::string_view digest) { return digest.substr(kPrefix.size()); }

Error DamagedFile(const fs::path& path) { return {Code::kDataLoss, path.string() + " is damaged", {}}; }

Result<json::object> LoadObject(const fs::path& path) {
  TY_TRY(const std::string text, ReadFile(path));
  std::optional<json::object> object = wire::ParseJsonObject(text);
  if (!object) return std::unexpected(DamagedFile(path));
  return *std::move(object);
}

json::array ToArray(const std::vector<std::string>& texts) { return json::array(texts.begin(), texts.end()); }

Result<Note> LoadNote(const fs::path& path) {
  TY_TRY(const json::object object, LoadObject(path));
  return Note{.reference = wire::TextIn(object, "reference"),
              .name = wire::TextIn(object, "name"),
              .access = {.tls = wire::FlagIn(object, "tls"),
                         .auth_file = wire::TextIn(object, "authFile"),
                         .guarded = wire::FlagIn(object, "guarded"),
                         .named = wire::TextsIn(object, "namedRegistries")}};
}

Result<CachedImage> ParseRecord(std::string_view digest, const fs::path& path, const json::object& object) {
  CachedImage image{.digest = std::string(digest),
                    .reference = wire::TextIn(object, "reference"),
                    .names = wire::TextsIn(object, "names"),
                    .loaded_names = wire::TextsIn(object, "loadedNames"),
                    .loaded = wire::FlagIn(object, "loaded"),
                    .pulled = SystemTime(std::chrono::seconds(wire::NumberIn(object, "pulled"))),
                    .config_digest = wire::TextIn(object, "config"),
                    .layers = {}};
  for (const json::value& value : wire::ListIn(object, "layers")) {
    if (!value.is_object()) return std::unexpected(DamagedFile(path));
    const json::object& layer = value.get_object();
    image.layers.push_back({.digest = wire::TextIn(layer, "digest"),
                            .diff_id = wire::TextIn(layer, "diffId"),
                            .size_bytes = wire::NumberIn(layer, "size"),
                            .unpacked_bytes = wire::NumberIn(layer, "unpacked")});
    if (!IsSha256(image.layers.back().digest) || !IsSha256(image.layers.back().diff_id))
      return std::unexpected(DamagedFile(path));
  }
  if (!IsSha256(image.config_digest)) return std::unexpected(DamagedFile(path));
  return image;
}

/// The digest in a record's file name; empty if it is not a record.
std::string RecordedDigest(const fs::path& path) {
  std::string digest = std::string(kPrefix) + path.stem().string();
  return path.extension() == ".json" && IsSha256(digest) ? digest : std::string();
}

}  // namespace

fs::path CacheLayout::Blob(std::string_view digest) const { return Blobs() / "sha256" / Hex(digest); }
fs::path CacheLayout::Layer(std::string_view diff_id) const { return Layers() / Hex(diff_id); }
fs::path CacheLayout::Record(std::string_view digest) const {
  return Images() / (std::string(Hex(digest)) + ".json");
}
fs::path CacheLayout::Lock(std::string_view digest) const {
  return Images() / (std::string(Hex(digest)) + ".lock");
}
fs::path CacheLayout::DaemonLock(std::string_view digest) const {
  return Images() / (std::string(Hex(digest)) + ".daemon.lock");
}
fs::path CacheLayout::Use(std::string_view digest) const {
  return Images() / (std::string(Hex(digest)) + ".use");
}
fs::path CacheLayout::Note(std::string_view digest, std::string_view reference) const {
  const std::string name = Sha256(reference).substr(kPrefix.size(), kNoteDigits);
  return Resolved() / (std::string(Hex(digest)) + "-" + name + ".json");
}
fs::path CacheLayout::Pull(std::string_view digest) const { return Pulls() / Hex(digest); }

Status CacheLayout::MakeFolders() const {
  TY_RETURN_IF_ERROR(MakePrivateFolder(dir_));
  for (const fs::path& folder : {Blobs() / "sha256", Layers(), Images(), Resolved(), Pulls()})
    TY_RETURN_IF_ERROR(trainyard::MakeFolders(folder));
  return {};
}

std::int64_t CachedImage::SizeBytes() const {
  std::int64_t sum = 0;
  for (const LayerRecord& layer : layers) sum += layer.size_bytes;
  return sum;
}

Result<std::optional<CachedImage>> LoadRecord(const CacheLayout& layout, std::string_view digest) {
  if (!IsSha256(digest)) return std::nullopt;
  const fs::path path = layout.Record(digest);
  const Result<json::object> object = LoadObject(path);
  if (!object && object.error().code == Code::kNotFound) return std::nullopt;
  if (!object) return std::unexpected(object.error());
  TY_TRY(CachedImage image, ParseRecord(digest, path, *object));
  return image;
}

std::optional<CachedImage> ReadRecord(const CacheLayout& layout, std::string_view digest) {
  return LoadRecord(layout, digest).value_or(std::nullopt);
}

Status WriteRecord(const CacheLayout& layout, const CachedImage& image) {
  json::array layers;
  for (const LayerRecord& layer : image.layers)
    layers.push_back({{"digest", layer.digest},
                      {"diffId", layer.diff_id},
                      {"size", layer.size_bytes},
                      {"unpacked", layer.unpacked_bytes}});
  const auto pulled =
      std::chrono::duration_cast<std::chrono::seconds>(image.pulled.time_since_epoch()).count();
  const json::object object{{"reference", image.reference},
                            {"names", ToArray(image.names)},
                            {"loadedNames", ToArray(image.loaded_names)},
                            {"loaded", image.loaded},
                            {"pulled", std::int64_t{pulled}},
                            {"config", image.config_digest},
                            {"layers", std::move(layers)}};
  return WriteFileAtomically(layout.Record(image.digest), json::serialize(object) + "\n");
}

Result<ImageRecords> LoadRecords(const CacheLayout& layout) {
  TY_TRY(const std::vector<fs::path> paths, EntriesOf(layout.Images()));
  ImageRecords records;
  for (const fs::path& path : paths) {
    const std::string digest = RecordedDigest(path);
    if (digest.empty()) continue;
    Result<std::optional<CachedImage>> image = LoadRecord(layout, digest);
    if (!image && image.error().code != Code::kDataLoss) return std::unexpected(image.error());
    if (!image) {
      records.damaged.push_back(digest);
    } else if (*image) {
      records.images.push_back(**std::move(image));
    }
  }
  std::ranges::sort(records.images, {}, &CachedImage::digest);
  return records;
}

std::vector<CachedImage> AllRecords(const CacheLayout& layout) {
  std::vector<CachedImage> images;
  for (const fs::path& path : PathsIn(layout.Images()))
    if (auto image = ReadRecord(layout, RecordedDigest(path))) images.push_back(*std::move(image));
  std::ranges::sort(images, {}, &CachedImage::digest);
  return images;
}

std::optional<Image> ImageOf(const CacheLayout& layout, const CachedImage& record) {
  const std::optional<std::string> text = ReadBlob(layout, record.config_digest);
  if (!text) return std::nullopt;
  Result<Config> config = ParseConfig(*text);
  if (!config) return std::nullopt;
  Image image{.digest = record.digest,
              .config = std::move(config->program),
              .layers = {},
              .size_bytes = record.SizeBytes()};
  for (const LayerRecord& layer : record.layers) {
    const fs::path folder = layout.Layer(layer.diff_id);
    std::error_code error;
    if (!fs::is_directory(folder, error)) return std::nullopt;
    // The kernel refuses to stack a directory twice; of equal layers only the upper one counts anyway.
    std::erase(image.layers, folder.string());
    image.layers.push_back(folder.string());
  }
  return image;
}

std::optional<Note> ReadNote(const CacheLayout& layout, std::string_view digest, std::string_view reference) {
  Result<Note> note = LoadNote(layout.Note(digest, reference));
  return note ? std::optional<Note>(*std::move(note)) : std::nullopt;
}

Status WriteNote(const CacheLayout& layout, std::string_view digest, const Note& note) {
  const json::object object{
      {"reference", note.reference},    {"name", note.name},
      {"tls", note.access.tls},         {"authFile", note.access.auth_file},
      {"guarded", note.access.guarded}, {"namedRegistries", ToArray(note.access.named)}};
  return WriteFileAtomically(layout.Note(digest, note.reference), json::serialize(object) + "\n");
}

std::optional<std::string> ReadBlob(const CacheLayout& layout, std::string_view digest) {
  Result<std::string> bytes = ReadFile(layout.Blob(digest), kSmallBlobMax);
  if (!bytes || Sha256(*bytes) != digest) return std::nullopt;
  return *std::move(bytes);
}

Status WriteBlob(const CacheLayout& layout, std::string_view digest, std::string_view bytes) {
  return WriteFileAtomically(layout.Blob(digest), bytes);
}

Status WriteLayout(const std::string& manifest, const std::string& digest, const fs::path& folder) {
  const auto object = wire::ParseJsonObject(manifest);
  std::string kind = object ? wire::TextIn(*object, "mediaType") : "";
  if (kind.empty()) kind = "application/vnd.oci.image.manifest.v1+json";  // OCI manifests may leave it out
  const json::object name{{"org.opencontainers.image.ref.name", "image"}};
  const json::object entry{
      {"mediaType", kind}, {"digest", digest}, {"size", manifest.size()}, {"annotations", name}};
  const json::object index{{"schemaVersion", 2}, {"manifests", json::array{entry}}};
  TY_RETURN_IF_ERROR(WriteFileAtomically(folder / "oci-layout", R"({"imageLayoutVersion":"1.0.0"})"));
  return WriteFileAtomically(folder / "index.json", json::serialize(index));
}

std::optional<SystemTime> ChangedAt(const fs::path& path) {
  struct stat there{};
  if (::stat(path.c_str(), &there) != 0) return std::nullopt;
  return std::chrono::system_clock::from_time_t(there.st_mtim.tv_sec);
}

Result<std::optional<UniqueFd>> TryLock(const fs::path& path, int operation) {
  TY_TRY(UniqueFd file, OpenFile(path, O_RDWR | O_CREAT));
  while (::flock(file.get(), operation | LOCK_NB) != 0) {
    if (errno == EINTR) continue;
    if (errno == EWOULDBLOCK) return std::optional<UniqueFd>();
    return std::unexpected(ErrnoError(errno, "flock " + path.string()));
  }
  return std::optional<UniqueFd>(std::move(file));
}

Result<UniqueFd> WaitForLock(const fs::path& path, int operation, const std::function<void()>& on_wait,
                             const std::stop_token& stop) {
  bool waiting = false;
  while (true) {
    TY_TRY(std::optional<UniqueFd> lock, TryLock(path, operation));
    if (lock) return *std::move(lock);
    if (stop.stop_requested()) return std::unexpected(Error{Code::kCancelled, "stopped", {}});
    if (!std::exchange(waiting, true) && on_wait) on_wait();
    std::this_thread::sleep_for(kLockRetryInterval);
  }
}

std::string PrintBytes(std::int64_t bytes) {
  constexpr std::array<const char*, 5> kUnits{"bytes", "kB", "MB", "GB", "TB"};
  auto value = static_cast<double>(bytes);
  std::size_t unit = 0;
  for (; value >= 999.5 && unit + 1 < kUnits.size(); ++unit) value /= 1000;
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), value < 10 && unit > 1 ? "%.1f %s" : "%.0f %s", value,
                kUnits[unit]);
  return text.data();
}

Result<OwnFolder> OwnFolder::Make(const CacheLayout& layout, std::string_view prefix) {
  std::string name = (layout.Pulls() / prefix).string() + "XXXXXX";
  if (::mkdtemp(name.data()) == nullptr) return std::unexpected(ErrnoError(errno, "mkdir " + name));
  return OwnFolder(name);
}

OwnFolder::~OwnFolder() {
  if (!path_.empty()) static_cast<void>(RemoveTree(path_));
}

}  // namespace trainyard::image
