#include "programs/image/load.h"

#include <archive.h>
#include <archive_entry.h>

#include <algorithm>
#include <boost/json.hpp>
#include <filesystem>
#include <map>
#include <memory>
#include <system_error>
#include <utility>

#include "base/async/file.h"
#include "base/wire/json_members.h"
#include "programs/image/archive_reader.h"
#include "programs/image/cache.h"
#include "programs/image/reference.h"

namespace trainyard::image {

namespace {

namespace fs = std::filesystem;
namespace json = boost::json;

constexpr std::int64_t kIndexBytesMax = std::int64_t{8} << 20;
constexpr std::string_view kNameKey = "org.opencontainers.image.ref.name";
constexpr std::string_view kFullNameKey = "io.containerd.image.name";

Error NoArchive(const std::string& path) {
  return InvalidArgument({}, path +
                                 " is not an image archive: make one with docker save, podman save, buildah "
                                 "push oci-archive:... or skopeo copy");
}

/// The small files at the top of a tar that say what is in it.
Result<std::map<std::string, std::string>> ReadTop(const std::string& path) {
  const ArchivePtr reader(::archive_read_new());
  ::archive_read_support_filter_gzip(reader.get());
  ::archive_read_support_filter_zstd(reader.get());
  ::archive_read_support_format_tar(reader.get());
  if (::archive_read_open_filename(reader.get(), path.c_str(), kReadBlock) != ARCHIVE_OK)
    return std::unexpected(NoArchive(path));
  std::map<std::string, std::string> files;
  archive_entry* entry = nullptr;
  int result = ARCHIVE_OK;
  while ((result = ::archive_read_next_header(reader.get(), &entry)) == ARCHIVE_OK) {
    const char* text = ::archive_entry_pathname(entry);
    const std::string name = fs::path(text != nullptr ? text : "").lexically_normal();
    if (name != "index.json" && name != "manifest.json" && name != "oci-layout") continue;
    const std::int64_t size = ::archive_entry_size(entry);
    if (size > kIndexBytesMax) return std::unexpected(NoArchive(path));
    std::string content(static_cast<std::size_t>(size), '\0');
    if (::archive_read_data(reader.get(), content.data(), content.size()) != size)
      return std::unexpected(NoArchive(path));
    files[name] = std::move(content);
  }
  if (result != ARCHIVE_EOF) return std::unexpected(NoArchive(path));
  return files;
}

/// index.json of an OCI layout. `transport`: "oci:" or "oci-archive:".
std::vector<ArchivedImage> ReadLayout(const std::string& text, const std::string& transport,
                                      const std::string& path) {
  std::vector<ArchivedImage> images;
  const auto index = wire::ParseJsonObject(text);
  if (!index) return images;
  const json::array& manifests = wire::ListIn(*index, "manifests");
  for (const json::value& manifest : manifests) {
    const json::object* object = manifest.if_object();
    const json::object annotations =
        object != nullptr ? wire::ObjectIn(*object, "annotations") : json::object();
    const std::string name = wire::TextIn(annotations, kNameKey);
    const std::string full_name = wire::TextIn(annotations, kFullNameKey);
    ArchivedImage image{.reference = transport + path, .names = {}};
    // skopeo finds the only image of a layout without its name.
    if (!name.empty() && manifests.size() > 1) image.reference += ":" + name;
    if (const std::string& best = full_name.empty() ? name : full_name; ParseReference(best))
      image.names.push_back(best);
    images.push_back(std::move(image));
  }
  return images;
}

/// manifest.json of a docker archive.
std::vector<ArchivedImage> ReadDocker(const std::string& text, const std::string& path) {
  std::vector<ArchivedImage> images;
  const auto list = wire::ParseJsonList(text);
  for (std::size_t i = 0; list && i < list->size(); ++i) {
    ArchivedImage image{.reference = "docker-archive:" + path, .names = {}};
    if (const json::object* object = (*list)[i].if_object()) image.names = wire::TextsIn(*object, "RepoTags");
    if (list->size() > 1)
      image.reference += ":" + (image.names.empty() ? "@" + std::to_string(i) : image.names.front());
    images.push_back(std::move(image));
  }
  return images;
}

}  // namespace

Result<std::vector<ArchivedImage>> LookIntoArchive(const std::string& path) {
  std::error_code error;
  const fs::path full = fs::absolute(path, error).lexically_normal();
  if (!fs::exists(full, error)) return std::unexpected(NotFound(path + " is not there"));
  std::vector<ArchivedImage> images;
  if (fs::is_directory(full, error)) {
    if (const Result<std::string> index = ReadFile(full / "index.json"))
      images = ReadLayout(*index, "oci:", full);
  } else {
    TY_TRY(auto files, ReadTop(full));
    if (files.contains("oci-layout") && files.contains("index.json"))
      images = ReadLayout(files["index.json"], "oci-archive:", full);
    else if (files.contains("manifest.json"))
      images = ReadDocker(files["manifest.json"], full);
  }
  if (images.empty()) return std::unexpected(NoArchive(path));
  return images;
}

Result<Image> LoadImage(const Sources& sources, const ArchivedImage& archived, const PullHooks& hooks) {
  TY_TRY(const ResolvedImage resolved, ResolveImage(sources, archived.reference, std::chrono::minutes(10)));
  TY_TRY(Image image, PullImage(sources, resolved, hooks));
  const CacheLayout layout(sources.images_dir);
  std::vector<std::string> names;
  for (const std::string& name : archived.names)
    if (const Result<Reference> reference = ParseReference(name)) names.push_back(reference->Print());
  // A name refers to the image last loaded under it.
  for (CachedImage& other : AllRecords(layout)) {
    const std::size_t before = other.loaded_names.size();
    for (const std::string& name : names)
      if (std::erase(other.loaded_names, name) > 0) std::erase(other.names, name);
    if (other.digest == image.digest) {
      // Names under which it was pulled are still resolved by the registries: a tag may move.
      for (const std::string& name : names) {
        other.loaded_names.push_back(name);
        if (std::ranges::find(other.names, name) == other.names.end()) other.names.push_back(name);
      }
      other.loaded = true;
    }
    if (other.loaded_names.size() != before || other.digest == image.digest)
      TY_RETURN_IF_ERROR(WriteRecord(layout, other));
  }
  return image;
}

}  // namespace trainyard::image
