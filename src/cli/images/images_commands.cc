#include "cli/images/images_commands.h"

#include <array>
#include <chrono>
#include <ctime>
#include <filesystem>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "cli/commands.h"
#include "cli/gcloud/common_flags.h"
#include "cli/gcloud/json_value.h"
#include "cli/gcloud/output_format.h"
#include "cli/gcloud/table.h"
#include "programs/image/cache.h"
#include "programs/image/collect.h"
#include "programs/image/image.h"
#include "programs/image/load.h"

namespace trainyard::cli {
namespace {

namespace fs = std::filesystem;

using image::CollectResult;
using image::ListedImage;

constexpr std::chrono::minutes kResolveTimeout{2};
constexpr std::size_t kShortDigest = 19;  // "sha256:" and twelve digits

std::string PrintUtc(std::chrono::system_clock::time_point time) {
  const std::time_t seconds = std::chrono::system_clock::to_time_t(time);
  std::tm parts{};
  gmtime_r(&seconds, &parts);
  char text[32] = {};
  std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &parts);
  return text;
}

std::string NameOf(const ListedImage& image) {
  return image.names.empty() ? image.reference.substr(0, image.reference.rfind('@')) : image.names.front();
}

Json ToJson(const ListedImage& image) {
  return JsonObject({{"digest", JsonString(image.digest)},
                     {"names", JsonArray(image.names)},
                     {"reference", JsonString(image.reference)},
                     {"layers", JsonNumber(std::to_string(image.layers))},
                     {"sizeBytes", JsonNumber(std::to_string(image.size_bytes))},
                     {"unpackedBytes", JsonNumber(std::to_string(image.unpacked_bytes))},
                     {"pullTime", JsonString(PrintUtc(image.pulled))},
                     {"lastUse", JsonString(PrintUtc(image.used))},
                     {"loaded", JsonBool(image.loaded)},
                     {"inUse", JsonBool(image.in_use)}});
}

/// Adds what a job that runs the image gets.
void AddProgram(Json& json, const image::Image& image) {
  const container::ImageConfig& config = image.config;
  SetMember(json, "entrypoint", JsonArray(config.entrypoint));
  SetMember(json, "command", JsonArray(config.command));
  SetMember(json, "environment", JsonArray(config.environment));
  SetMember(json, "workingDir", JsonString(config.working_dir.empty() ? "/" : config.working_dir));
  SetMember(json, "user", JsonString(config.user.empty() ? "root" : config.user));
  SetMember(json, "stopSignal", JsonString(config.stop_signal.empty() ? "SIGTERM" : config.stop_signal));
  std::vector<std::string> lines;
  for (const auto& [name, value] : config.labels) lines.push_back(name + "=" + value);
  SetMember(json, "labels", JsonArray(lines));
  SetMember(json, "layerFolders", JsonArray(image.layers));
}

image::PullHooks Progress(const Console& console) {
  return {.info = [&console](std::string_view line) { console.Status(std::string(line) + "\n"); }};
}

void SayRemoved(const Console& console, const CollectResult& collected) {
  for (const std::string& digest : collected.images) console.Status("Removed " + digest + ".\n");
  console.Status("Freed " + image::PrintBytes(collected.bytes) + ".\n");
}

constexpr FlagSpec kInsecureRegistryFlag =
    Repeated({"--insecure-registry", "HOST[:PORT]",
              "Registry to contact without TLS. Registries on this machine never need TLS."});
constexpr auto kPullFlags = WithCommonFlags({kInsecureRegistryFlag});
constexpr auto kRemoveImagesFlags =
    WithCommonFlags({{"--unused", "", "Remove all images that no job is using, including loaded images."}});
constexpr auto kLoginFlags = WithCommonFlags(
    {kInsecureRegistryFlag,
     {"--username", "USER",
      "User name for the registry. The command prompts for the password, or reads it from stdin."}});

const Command kImagesCommands[] = {
    {.spec = {.path = "images inspect",
              .summary = "Describe a container image on this machine.",
              .positional = "IMAGE",
              .flags = kCommonFlags,
              .examples = "images inspect registry.local/census:1"},
     .run = InspectImage},
    {.spec = {.path = "images list",
              .summary = "List the container images on this machine.",
              .flags = kCommonFlags,
              .examples = "images list\n"
                          "images list --format=json"},
     .run = ListImages},
    {.spec = {.path = "images load",
              .summary = "Load container images from an archive or directory.",
              .positional = "FILE",
              .flags = kCommonFlags,
              .examples = "images load census.tar"},
     .run = LoadImages},
    {.spec = {.path = "images pull",
              .summary = "Fetch and unpack a container image.",
              .positional = "IMAGE",
              .flags = kPullFlags,
              .examples = "images pull docker.io/library/python:3.11"},
     .run = PullImage},
    {.spec = {.path = "images push",
              .summary = "Copy a container image to a registry.",
              .positional = "IMAGE",
              .second = "DESTINATION",
              .flags = kPullFlags,
              .examples = "images push census:1 registry.local/census:1"},
     .run = PushImage},
    {.spec = {.path = "images remove",
              .summary = "Remove container images from this machine.",
              .positional = "IMAGE",
              .repeats = true,
              .optional = true,
              .flags = kRemoveImagesFlags,
              .examples = "images remove registry.local/census:1\n"
                          "images remove --unused"},
     .run = RemoveImages},
    {.spec = {.path = "registries list",
              .summary = "List the registries with stored credentials.",
              .flags = kCommonFlags,
              .examples = "registries list"},
     .run = ListRegistries},
    {.spec = {.path = "registries login",
              .summary = "Store the credentials of a registry for jobs.",
              .positional = "REGISTRY",
              .flags = kLoginFlags,
              .examples = "registries login registry.local --username=ann"},
     .run = LogInToRegistry},
    {.spec = {.path = "registries logout",
              .summary = "Remove the credentials of a registry.",
              .positional = "REGISTRY",
              .flags = kCommonFlags,
              .examples = "registries logout registry.local"},
     .run = LogOutOfRegistry},
};

}  // namespace

ImagesFolder FindImagesFolder(const Arguments& arguments, const SettingSources& sources) {
  const fs::path data = fs::absolute(arguments.Value("--data").value_or(DefaultDataDir(sources)));
  std::error_code error;
  const fs::path resolved = fs::weakly_canonical(data, error);
  const fs::path& folder = error ? data : resolved;
  return {.images = folder / "images", .registries = folder / "registries"};
}

image::Sources SourcesOf(const ImagesFolder& folder, const Arguments& arguments) {
  image::Sources sources{.images_dir = folder.images, .registries_dir = folder.registries};
  sources.insecure = arguments.Values("--insecure-registry");
  return sources;
}

ExitStatus ListImages(const LocalSession& session) {
  TY_TRY(const OutputFormat format, session.Format());
  const ImagesFolder folder = FindImagesFolder(session.arguments, session.sources);
  Rows rows{{"NAME", "DIGEST", "SIZE", "UNPACKED", "LAST_USE", "STATE"}};
  std::vector<Json> resources;
  for (const ListedImage& image : image::ListImages(folder.images)) {
    resources.push_back(ToJson(image));
    rows.push_back({NameOf(image), image.digest.substr(0, kShortDigest), image::PrintBytes(image.size_bytes),
                    image::PrintBytes(image.unpacked_bytes), LocalTime(PrintUtc(image.used), kDateFormat),
                    image.in_use ? "in use" : ""});
  }
  session.PrintList(format, rows, resources);
  return 0;
}

ExitStatus InspectImage(const LocalSession& session) {
  TY_TRY(const OutputFormat format, session.Format());
  const ImagesFolder folder = FindImagesFolder(session.arguments, session.sources);
  TY_TRY(const ListedImage listed, image::FindListed(folder.images, session.arguments.positionals.front()));
  Json json = ToJson(listed);
  if (const auto image = image::FindImage(folder.images, listed.digest)) AddProgram(json, *image);
  session.console.Out(PrintResource(Sorted(json), format));
  return 0;
}

ExitStatus PullImage(const LocalSession& session) {
  const ImagesFolder folder = FindImagesFolder(session.arguments, session.sources);
  const image::Sources image_sources = SourcesOf(folder, session.arguments);
  TY_TRY(const image::ResolvedImage resolved,
         image::ResolveImage(image_sources, session.arguments.positionals.front(), kResolveTimeout));
  TY_TRY(const image::Image pulled, image::PullImage(image_sources, resolved, Progress(session.console)));
  session.console.Out(resolved.reference + "\n");
  return 0;
}

ExitStatus LoadImages(const LocalSession& session) {
  const ImagesFolder folder = FindImagesFolder(session.arguments, session.sources);
  const image::Sources image_sources = SourcesOf(folder, session.arguments);
  TY_TRY(const std::vector<image::ArchivedImage> images,
         image::LookIntoArchive(session.arguments.positionals.front()));
  for (const image::ArchivedImage& archived : images) {
    TY_TRY(const image::Image loaded, image::LoadImage(image_sources, archived, Progress(session.console)));
    session.console.Out((archived.names.empty() ? loaded.digest : archived.names.front()) + "\n");
  }
  return 0;
}

ExitStatus PushImage(const LocalSession& session) {
  const ImagesFolder folder = FindImagesFolder(session.arguments, session.sources);
  std::string source = session.arguments.positionals.front();
  // An existing file or directory takes precedence over an image of that name.
  if (const auto archived = image::LookIntoArchive(source); archived && archived->size() == 1)
    source = archived->front().reference;
  TY_TRY(const std::string there,
         image::PushImage(SourcesOf(folder, session.arguments), source, session.arguments.positionals.back(),
                          Progress(session.console)));
  session.console.Out(there + "\n");
  return 0;
}

ExitStatus RemoveImages(const LocalSession& session) {
  const ImagesFolder folder = FindImagesFolder(session.arguments, session.sources);
  if (session.arguments.IsOn("--unused") == !session.arguments.positionals.empty())
    return std::unexpected(UsageError("IMAGE", "Specify either the images to remove or --unused."));
  if (session.arguments.IsOn("--unused")) {
    TY_TRY(const CollectResult collected,
           image::CollectImages(folder.images, {.bytes_max = 0, .age_max = {}, .with_loaded = true}));
    SayRemoved(session.console, collected);
    return 0;
  }
  CollectResult all;
  for (const std::string& name : session.arguments.positionals) {
    TY_TRY(const ListedImage listed, image::FindListed(folder.images, name));
    TY_TRY(const CollectResult collected, image::RemoveImage(folder.images, listed.digest));
    all.images.insert(all.images.end(), collected.images.begin(), collected.images.end());
    all.bytes += collected.bytes;
  }
  SayRemoved(session.console, all);
  return 0;
}

std::span<const Command> ImagesCommands() { return kImagesCommands; }

}  // namespace trainyard::cli
