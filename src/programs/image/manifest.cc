#include "programs/image/manifest.h"

#include <sys/utsname.h>

#include <algorithm>
#include <boost/json.hpp>
#include <numeric>
#include <optional>
#include <system_error>
#include <utility>

#include "base/wire/json_members.h"
#include "programs/image/reference.h"

namespace trainyard::image {

namespace {

namespace json = boost::json;

constexpr std::size_t kLayersMax = 127;  // as many as Docker ever made

Error Unreadable(std::string_view what, std::string_view why) {
  return {Code::kDataLoss, "its " + std::string(what) + " cannot be read: " + std::string(why), {}};
}

Result<json::object> ReadObject(std::string_view what, std::string_view text) {
  boost::system::error_code error;
  json::value value = json::parse(text, error);
  if (error) return std::unexpected(Unreadable(what, error.message()));
  if (!value.is_object()) return std::unexpected(Unreadable(what, "it is no JSON object"));
  return std::move(value.as_object());
}

Result<Descriptor> ReadDescriptor(std::string_view what, const json::object& object) {
  Descriptor descriptor{.digest = wire::TextIn(object, "digest"), .size = 0};
  if (!IsSha256(descriptor.digest))
    return std::unexpected(
        Unreadable(what, "'" + descriptor.digest.substr(0, 80) + "' is not a sha256 digest"));
  const json::value* size = object.if_contains("size");
  if (size == nullptr || !size->is_int64() || size->as_int64() < 0)
    return std::unexpected(Unreadable(what, "a size is missing"));
  descriptor.size = size->as_int64();
  return descriptor;
}

std::string Platform(const json::object& platform) {
  const std::string variant = wire::TextIn(platform, "variant");
  return wire::TextIn(platform, "os") + "/" + wire::TextIn(platform, "architecture") +
         (variant.empty() ? "" : "/" + variant);
}

}  // namespace

std::int64_t Manifest::LayerBytes() const {
  return std::accumulate(layers.begin(), layers.end(), std::int64_t{0},
                         [](std::int64_t sum, const Descriptor& layer) { return sum + layer.size; });
}

std::string ThisArchitecture() {
  utsname names{};
  ::uname(&names);
  const std::string_view machine = names.machine;
  if (machine == "x86_64") return "amd64";
  if (machine == "aarch64") return "arm64";
  if (machine.starts_with("armv")) return "arm";
  if (machine == "i686") return "386";
  return std::string(machine);  // ppc64le, riscv64, s390x: the same word
}

bool IsIndex(std::string_view text) {
  const Result<json::object> object = ReadObject("index", text);
  return object && object->contains("manifests");
}

Result<Descriptor> ChooseManifest(std::string_view index, std::string_view architecture) {
  TY_TRY(const json::object object, ReadObject("index", index));
  const json::value* list = object.if_contains("manifests");
  if (list == nullptr || !list->is_array())
    return std::unexpected(Unreadable("index", "\"manifests\" is no list"));
  std::vector<std::string> there;
  for (const json::value& entry : list->as_array()) {
    if (!entry.is_object()) return std::unexpected(Unreadable("index", "an entry is no JSON object"));
    const json::object& platform = wire::ObjectIn(entry.as_object(), "platform");
    if (wire::TextIn(platform, "os") == "linux" && wire::TextIn(platform, "architecture") == architecture)
      return ReadDescriptor("index", entry.as_object());
    if (wire::TextIn(platform, "os") != "unknown" && !platform.empty()) there.push_back(Platform(platform));
  }
  std::string named;
  for (const std::string& platform : there) named += (named.empty() ? "" : ", ") + platform;
  return std::unexpected(FailedPrecondition("it is not made for linux/" + std::string(architecture) +
                                            " (there is: " + (named.empty() ? "nothing" : named) +
                                            "); build it for this machine, with --platform linux/" +
                                            std::string(architecture) + " for example"));
}

Result<Manifest> ParseManifest(std::string_view text) {
  TY_TRY(const json::object object, ReadObject("manifest", text));
  const json::value* version = object.if_contains("schemaVersion");
  if (version != nullptr && version->is_int64() && version->as_int64() == 1)
    return std::unexpected(FailedPrecondition(
        "it uses manifest schema 1, which Docker replaced in 2017; pull and push it with a current tool"));
  if (!object.contains("config") || !object.contains("layers"))
    return std::unexpected(FailedPrecondition("it is not a container image"));
  const std::string kind = wire::TextIn(wire::ObjectIn(object, "config"), "mediaType");
  if (!kind.empty() && kind.find("image.config") == std::string::npos &&
      kind.find("container.image") == std::string::npos)
    return std::unexpected(FailedPrecondition("it is not a container image but " + kind));
  Manifest manifest;
  TY_TRY(manifest.config, ReadDescriptor("manifest", wire::ObjectIn(object, "config")));
  const json::array* layers = object.at("layers").if_array();
  if (layers == nullptr) return std::unexpected(Unreadable("manifest", "\"layers\" is no list"));
  if (layers->size() > kLayersMax)
    return std::unexpected(
        FailedPrecondition("it has " + std::to_string(layers->size()) +
                           " layers, and at most 127 are supported. Build it with fewer steps"));
  for (const json::value& layer : *layers) {
    if (!layer.is_object()) return std::unexpected(Unreadable("manifest", "a layer is no JSON object"));
    if (wire::TextIn(layer.as_object(), "mediaType").ends_with("+encrypted"))
      return std::unexpected(FailedPrecondition("its layers are encrypted"));
    TY_TRY(Descriptor descriptor, ReadDescriptor("manifest", layer.as_object()));
    manifest.layers.push_back(std::move(descriptor));
  }
  return manifest;
}

Result<Config> ParseConfig(std::string_view text) {
  TY_TRY(const json::object object, ReadObject("config", text));
  Config config{.os = wire::TextIn(object, "os"),
                .architecture = wire::TextIn(object, "architecture"),
                .diff_ids = wire::TextsIn(wire::ObjectIn(object, "rootfs"), "diff_ids"),
                .program = {}};
  if (!std::ranges::all_of(config.diff_ids, IsSha256))
    return std::unexpected(Unreadable("config", "a diff_id is not a sha256 digest"));
  const json::object& program = wire::ObjectIn(object, "config");
  config.program = {.entrypoint = wire::TextsIn(program, "Entrypoint"),
                    .command = wire::TextsIn(program, "Cmd"),
                    .environment = wire::TextsIn(program, "Env"),
                    .working_dir = wire::TextIn(program, "WorkingDir"),
                    .user = wire::TextIn(program, "User"),
                    .stop_signal = wire::TextIn(program, "StopSignal"),
                    .labels = {}};
  for (const auto& [name, value] : wire::ObjectIn(program, "Labels"))
    if (const json::string* label = value.if_string()) config.program.labels.emplace(name, *label);
  return config;
}

Status CheckArchitecture(const Config& config, std::string_view architecture) {
  const bool os_fits = config.os.empty() || config.os == "linux";
  if (os_fits && (config.architecture.empty() || config.architecture == architecture)) return {};
  return std::unexpected(FailedPrecondition(
      "it is made for " + (config.os.empty() ? "linux" : config.os) + "/" + config.architecture +
      ", and this machine is linux/" + std::string(architecture) +
      "; build it for this machine, with --platform linux/" + std::string(architecture) + " for example"));
}

}  // namespace trainyard::image
