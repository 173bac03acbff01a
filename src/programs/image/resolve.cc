#include <algorithm>
#include <filesystem>
#include <optional>
#include <string>
#include <system_error>
#include <utility>

#include "programs/image/cache.h"
#include "programs/image/image.h"
#include "programs/image/manifest.h"
#include "programs/image/reference.h"
#include "programs/image/skopeo.h"
#include "rules/jobs/images.h"

namespace trainyard::image {

namespace {

namespace fs = std::filesystem;
using std::chrono::milliseconds;
using std::chrono::steady_clock;

Error About(const Reference& reference, const Error& error) {
  return {error.code, "image " + reference.Print() + ": " + error.message, {}};
}

/// The configured name for an image, if a pattern matches it.
std::string Mapped(const Sources& sources, const std::string& reference) {
  for (const auto& [pattern, target] : sources.mapped)
    if (jobs::MatchesImage(pattern, reference)) return target;
  return reference;
}

std::string PinnedText(Reference reference, const std::string& digest) {
  reference.digest = digest;
  return reference.Print();
}

/// Loaded images are found by the names that their archive gave them; all others only by digest, since a tag
/// may have moved.
std::optional<ResolvedImage> FindInCache(const CacheLayout& layout, const Reference& reference) {
  if (!reference.IsRegistry()) return std::nullopt;
  const std::string name = reference.Print();
  for (const CachedImage& image : AllRecords(layout)) {
    const bool by_digest = !reference.digest.empty() && image.digest == reference.digest;
    const bool by_name = std::ranges::find(image.loaded_names, name) != image.loaded_names.end();
    if (!by_digest && !by_name) continue;
    if (std::optional<Image> complete = ImageOf(layout, image))
      return ResolvedImage{.reference = by_digest ? name : PinnedText(reference, image.digest),
                           .digest = image.digest,
                           .size_bytes = image.SizeBytes(),
                           .program = std::move(complete->config)};
  }
  return std::nullopt;
}

/// The image may have been removed when the job starts; the pull then needs the same note as after a
/// resolution. Without it the pull would not know whose registry may be asked, and with what. kUnavailable:
/// it cannot be written.
Status NoteAccess(const Sources& sources, const CacheLayout& layout, const Reference& reference,
                  const ResolvedImage& found) {
  const std::optional<Note> former = ReadNote(layout, found.digest, found.reference);
  const Status written = WriteNote(layout, found.digest,
                                   {.reference = found.reference,
                                    .name = former ? former->name : reference.Print(),
                                    .access = AccessTo(sources, reference)});
  if (written) return {};
  return std::unexpected(Unavailable("cannot record how it may be pulled: " + written.error().message));
}

class Resolving {
 public:
  Resolving(const CacheLayout& layout, const Skopeo& skopeo, Reference reference, RegistryAccess access,
            steady_clock::time_point deadline)
      : layout_(layout),
        skopeo_(skopeo),
        reference_(std::move(reference)),
        access_(std::move(access)),
        deadline_(deadline) {}

  Result<ResolvedImage> Run() {
    TY_TRY(std::string manifest, Inspect(reference_, false));
    std::string digest = Sha256(manifest);
    // The requested digest may be that of an index: one of its members is what runs.
    if (!reference_.digest.empty() && reference_.digest != digest)
      return std::unexpected(Error{Code::kDataLoss, "the image there has the digest " + digest, {}});
    if (IsIndex(manifest)) {
      TY_TRY(const Descriptor chosen, ChooseManifest(manifest, ThisArchitecture()));
      digest = chosen.digest;
      manifest.clear();
      if (reference_.IsRegistry()) TY_RETURN_IF_ERROR(FetchMember(digest, manifest));
    }
    ResolvedImage resolved{.reference = PinnedText(reference_, digest), .digest = digest, .size_bytes = 0};
    TY_RETURN_IF_ERROR(LookInside(digest, manifest, resolved));
    TY_RETURN_IF_ERROR(WriteNote(
        layout_, digest, {.reference = resolved.reference, .name = reference_.Print(), .access = access_}));
    return resolved;
  }

 private:
  Result<std::string> Inspect(const Reference& reference, bool config) const {
    const auto left = std::chrono::duration_cast<milliseconds>(deadline_ - steady_clock::now());
    return skopeo_.Inspect(reference, access_, config, std::max(left, milliseconds{1}));
  }

  Status FetchMember(const std::string& digest, std::string& manifest) {
    Reference member = reference_;
    member.digest = digest;
    TY_TRY(manifest, Inspect(member, false));
    if (Sha256(manifest) == digest) return {};
    return std::unexpected(Error{Code::kDataLoss, "its manifest does not match the digest " + digest, {}});
  }

  /// Manifest and config stay in the cache: the pull begins with them. Members of an index inside an archive
  /// cannot be inspected: `manifest` is empty, and the pull fetches it.
  Status LookInside(const std::string& digest, const std::string& manifest, ResolvedImage& resolved) {
    std::string config_digest;
    if (!manifest.empty()) {
      TY_TRY(const Manifest parsed, ParseManifest(manifest));
      resolved.size_bytes = parsed.LayerBytes();
      config_digest = parsed.config.digest;
    }
    std::optional<std::string> bytes =
        config_digest.empty() ? std::nullopt : ReadBlob(layout_, config_digest);
    if (!bytes) {
      Reference member = reference_;
      if (member.IsRegistry()) member.digest = digest;
      TY_TRY(bytes, Inspect(member, true));
    }
    TY_TRY(const Config config, ParseConfig(*bytes));
    TY_RETURN_IF_ERROR(CheckArchitecture(config, ThisArchitecture()));
    resolved.program = config.program;
    if (manifest.empty()) return {};
    TY_RETURN_IF_ERROR(WriteBlob(layout_, digest, manifest));
    if (Sha256(*bytes) == config_digest) TY_RETURN_IF_ERROR(WriteBlob(layout_, config_digest, *bytes));
    return {};
  }

  const CacheLayout& layout_;
  const Skopeo& skopeo_;
  Reference reference_;
  RegistryAccess access_;
  steady_clock::time_point deadline_;
};

}  // namespace

Result<ResolvedImage> ResolveImage(const Sources& sources, const std::string& reference, milliseconds timeout,
                                   const std::stop_token& stop) {
  const auto deadline = steady_clock::now() + timeout;
  TY_TRY(const Reference asked, ParseReference(reference));
  const CacheLayout layout(sources.images_dir);
  const std::string mapped = Mapped(sources, reference);
  TY_TRY(const Reference parsed, ParseReference(mapped));
  for (const Reference* wanted : {&asked, &parsed}) {
    auto found = FindInCache(layout, *wanted);
    if (!found) continue;
    if (const Status noted = NoteAccess(sources, layout, *wanted, *found); !noted)
      return std::unexpected(About(*wanted, noted.error()));
    return *std::move(found);
  }
  TY_RETURN_IF_ERROR(layout.MakeFolders());
  TY_TRY(const OwnFolder folder, OwnFolder::Make(layout));
  TY_TRY(const Skopeo skopeo, Skopeo::Find({.temporary = folder.path(), .stop = stop}));
  const RegistryAccess access = AccessTo(sources, parsed);
  if (const Status may = CheckRegistry(parsed, access); !may)
    return std::unexpected(About(parsed, may.error()));
  Result<ResolvedImage> resolved = Resolving(layout, skopeo, parsed, access, deadline).Run();
  if (!resolved) return std::unexpected(About(parsed, resolved.error()));
  return resolved;
}

std::string RegistryOf(const Sources& sources, const std::string& reference) {
  const Result<Reference> parsed = ParseReference(Mapped(sources, reference));
  if (!parsed) return {};
  return parsed->IsRegistry() ? parsed->Registry() : parsed->transport + ":";
}

bool UsesCredentials(const Sources& sources, const std::string& reference) {
  const Result<Reference> parsed = ParseReference(Mapped(sources, reference));
  return parsed && !AccessTo(sources, *parsed).auth_file.empty();
}

std::optional<ResolvedImage> FindPulled(const Sources& sources, const std::string& reference) {
  const Result<Reference> wanted = ParseReference(Mapped(sources, reference));
  if (!wanted || !wanted->IsRegistry()) return std::nullopt;
  const CacheLayout layout(sources.images_dir);
  const std::string name = wanted->Print();
  std::optional<ResolvedImage> newest;
  std::optional<std::chrono::system_clock::time_point> newest_time;
  for (const CachedImage& image : AllRecords(layout)) {
    ResolvedImage found{.reference = PinnedText(*wanted, image.digest),
                        .digest = image.digest,
                        .size_bytes = image.SizeBytes()};
    const std::optional<Note> note = ReadNote(layout, image.digest, found.reference);
    std::optional<Image> complete = ImageOf(layout, image);
    if (!note || note->name != name || !complete) continue;
    found.program = std::move(complete->config);
    const auto time = ChangedAt(layout.Note(image.digest, found.reference));  // renewed by each answer
    if (newest && time <= newest_time) continue;
    newest = std::move(found);
    newest_time = time;
  }
  return newest;
}

}  // namespace trainyard::image
